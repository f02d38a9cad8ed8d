"""Writes the whole state of a gateway into one encrypted file, and restores it."""
