"""MCP servers, as the contracts describe them."""
