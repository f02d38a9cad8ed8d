"""Connectors: the code that upstreams need besides their contracts, one folder each."""
