"""The functions that generated field maps call: read, convert, check and omit values."""
