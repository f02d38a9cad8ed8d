"""TCP connections: accepted, limited, read, and closed."""
