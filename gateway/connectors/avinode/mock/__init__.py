"""The mock of `avinode`: the behaviour of its operations, and its data."""
