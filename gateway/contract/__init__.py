"""The words of generated code: records and pure functions, nothing that the gateway does."""
