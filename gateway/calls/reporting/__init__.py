"""Rows that calls report."""
