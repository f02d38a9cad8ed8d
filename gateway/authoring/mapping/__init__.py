"""Parses, checks, proves and compiles field maps and event maps."""
