"""Calls every tool by its contract's own examples over every transport, and compares the
answers."""
