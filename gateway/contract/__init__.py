"""The words generated code is written in: records and pure functions, no behaviour of the gateway."""
