"""What operators see and do: `/operator/…`."""
