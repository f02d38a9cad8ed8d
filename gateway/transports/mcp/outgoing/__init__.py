"""What is sent to MCP clients besides the text of a result."""
