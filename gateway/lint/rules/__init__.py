"""The rules of the lint."""
