"""The records and pure functions that generated code uses. Nothing here runs the gateway."""
