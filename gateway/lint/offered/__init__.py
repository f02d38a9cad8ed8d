"""Checks of resources and prompts."""
