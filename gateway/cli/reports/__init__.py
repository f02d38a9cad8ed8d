"""Reports of checks: for people, for CI systems, for code scanning."""
