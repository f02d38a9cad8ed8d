"""The routes for operators: `/operator/…`."""
