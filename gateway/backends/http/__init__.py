"""Backends over HTTP: the client, its connections, and messages to addresses that others named."""
