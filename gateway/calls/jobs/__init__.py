"""Calls that run as jobs: accepted, run, watched, and shown to their owners."""
