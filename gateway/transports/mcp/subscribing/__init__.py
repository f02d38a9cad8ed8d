"""Subscriptions of MCP clients in the handshake revisions, and the stream for notifications."""
