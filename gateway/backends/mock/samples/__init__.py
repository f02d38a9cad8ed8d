"""Makes values that a JSON Schema admits, repeatably."""
