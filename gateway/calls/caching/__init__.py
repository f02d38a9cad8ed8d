"""Answers that may be used again, for as long as the contracts allow."""
