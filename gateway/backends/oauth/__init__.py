"""Access tokens (RFC 6749): how they are asked for, read, kept and renewed."""
