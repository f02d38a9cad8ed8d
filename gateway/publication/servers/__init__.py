"""Documents that describe MCP servers to people, hosts and registries before they connect."""
