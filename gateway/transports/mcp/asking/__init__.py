"""Questions of tools to MCP clients, and the answers."""
