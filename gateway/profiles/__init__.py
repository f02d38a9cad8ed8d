"""Client profiles: what each MCP client refuses, and the schemas that it is shown instead."""
