"""The mock of `weather`: what its operations do, and what it knows and keeps."""
