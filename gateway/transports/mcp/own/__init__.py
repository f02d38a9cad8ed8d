"""The gateway's own tools: which of them a caller sees, and what they do."""
