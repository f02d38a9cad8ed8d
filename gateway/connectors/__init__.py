"""Connectors: what single upstreams need beside their contracts, one folder each."""
