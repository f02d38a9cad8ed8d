"""MCP over standard input and output, in this process or in front of a gateway elsewhere."""
