"""How an operation reaches its upstream: live over HTTP, or mock."""
