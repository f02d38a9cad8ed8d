"""Generates code from contracts. The result depends only on these and the recorded migrations."""
