"""The mock of `sheets`: the behaviour of its operations, and its data."""
