"""One call: from its credentials to its result and its audit record."""
