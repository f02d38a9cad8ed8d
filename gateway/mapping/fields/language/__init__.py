"""The language of field maps, and how a text becomes records."""
