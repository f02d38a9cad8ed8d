"""One call, from credentials to audited result."""
