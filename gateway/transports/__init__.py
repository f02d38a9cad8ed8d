"""The doors: outside world to Call and back."""
