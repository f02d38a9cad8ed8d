"""`gateway import`."""
