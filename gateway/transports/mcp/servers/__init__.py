"""The routes of the MCP endpoints and of their server cards."""
