"""JSON Schema: what its keywords hold, what schemas refer to, and what two have in common."""
