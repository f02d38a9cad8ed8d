"""The checks and proofs of field maps."""
