"""Versions of contracts: what is recorded of each, and which version a change needs."""
