"""The mock of `amadeus`: the behaviour of its operations, and its data."""
