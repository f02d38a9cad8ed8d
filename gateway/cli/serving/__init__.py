"""Commands that serve, and that set up who may call."""
