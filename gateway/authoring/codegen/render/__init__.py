"""Renders generated files: one module per kind of file."""
