"""Calls every tool with its contract's examples over every transport, and compares the results."""
