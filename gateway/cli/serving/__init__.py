"""Commands that serve, and commands that manage keys and settings."""
