"""The mock of `golf`: what its operations do, and what it knows and keeps."""
