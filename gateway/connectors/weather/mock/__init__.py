"""The mock of `weather`: the behaviour of its operations, and its data."""
