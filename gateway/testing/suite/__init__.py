"""The tests of the suite, by subject. They use the fixtures of `gateway.testing.fixtures`."""
