"""What changed between two versions of contracts, and what that breaks for whom."""
