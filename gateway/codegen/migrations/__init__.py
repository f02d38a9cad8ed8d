"""Migrations of entity tables: revisions that are added when contracts change, and never edited."""
