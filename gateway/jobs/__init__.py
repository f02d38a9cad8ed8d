"""Jobs: work that goes on after its request has ended."""
