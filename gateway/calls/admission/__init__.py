"""Admits calls: places in this process, and the limits of tools and agents."""
