"""The mock of `gmail`: the behaviour of its operations, and its data."""
