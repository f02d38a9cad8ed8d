"""The mock of `amadeus`: what its operations do, and what it knows and keeps."""
