"""The mock of `gmail`: what its operations do, and what it knows and keeps."""
