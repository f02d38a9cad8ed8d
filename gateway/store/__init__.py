"""The gateway's persistent state."""
