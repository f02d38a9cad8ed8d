"""The language of field maps: its records and its parser."""
