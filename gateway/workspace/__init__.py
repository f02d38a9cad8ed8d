"""The database that stands in for an upstream's tables."""
