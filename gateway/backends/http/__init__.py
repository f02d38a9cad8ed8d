"""Requests over HTTP: the client of an upstream, its connections, and messages to other hosts."""
