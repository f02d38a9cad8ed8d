"""A project for the official conformance suite of MCP."""
