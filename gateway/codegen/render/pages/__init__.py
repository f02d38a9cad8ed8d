"""Renderers of the reference pages."""
