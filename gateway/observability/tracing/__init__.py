"""Spans: what part of the work of one trace happened here, and how long it took."""
