"""Calls every tool by its contract's own examples through every door, and compares the answers."""
