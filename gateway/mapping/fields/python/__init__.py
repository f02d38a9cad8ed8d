"""The Python that a checked field map becomes."""
