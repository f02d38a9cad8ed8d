"""MCP over standard input and output: in this process, or as a bridge to a remote gateway."""
