"""The transports: they turn requests from outside into calls, and results into answers."""
