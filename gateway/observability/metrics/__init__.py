"""Counts and times for operators, in the form of Prometheus."""
