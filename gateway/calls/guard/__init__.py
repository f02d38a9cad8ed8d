"""Guards each upstream: how many requests it gets, and whether it gets any while it fails."""
