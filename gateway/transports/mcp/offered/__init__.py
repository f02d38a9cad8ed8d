"""Resources, prompts and completions over MCP."""
