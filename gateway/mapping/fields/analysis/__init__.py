"""Analyses the values that a field map reads and makes."""
