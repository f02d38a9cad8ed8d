"""Reads the OpenAPI documents of vendors, and makes tools of their operations."""
