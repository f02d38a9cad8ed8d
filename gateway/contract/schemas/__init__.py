"""JSON Schema: what keywords hold, what schemas refer to and have in common, samples of values."""
