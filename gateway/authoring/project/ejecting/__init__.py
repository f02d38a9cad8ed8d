"""Ejects operations of imported documents: each becomes contract files that do exactly the same."""
