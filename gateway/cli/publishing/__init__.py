"""Commands that describe the gateway's MCP servers to others."""
