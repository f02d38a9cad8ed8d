"""Access tokens (RFC 6749): requested, read, cached and renewed."""
