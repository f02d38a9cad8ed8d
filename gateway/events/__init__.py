"""Events out: put in order, streamed, and delivered to endpoints."""
