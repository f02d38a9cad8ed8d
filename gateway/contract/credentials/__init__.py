"""Keys, token grants and scopes."""
