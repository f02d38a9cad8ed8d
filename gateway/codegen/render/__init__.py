"""Contracts in, text out: one module per kind of generated file."""
