"""The fast path for the most frequent messages of MCP clients."""
