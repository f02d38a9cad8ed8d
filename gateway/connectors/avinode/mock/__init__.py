"""The mock of `avinode`: what its operations do, and what it knows and keeps."""
