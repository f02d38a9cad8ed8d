"""Converts linted contract files to the records that renderers use."""
