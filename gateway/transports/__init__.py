"""The transports: outside world to Call and back."""
