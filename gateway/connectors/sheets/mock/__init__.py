"""The mock of `sheets`: what its operations do, and what it knows and keeps."""
