"""Replies of imported operations."""
