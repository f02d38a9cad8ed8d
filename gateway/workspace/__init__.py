"""The database that replaces an upstream with tables."""
