"""The mock of `golf`: the behaviour of its operations, and its data."""
