"""Rows of entities: written in the order of what happened, and read page by page."""
