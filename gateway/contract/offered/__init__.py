"""What MCP clients are offered beside tools: resources and prompts, as contracts declare them."""
