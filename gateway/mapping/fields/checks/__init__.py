"""What is wrong with a field map, and what is proved of it."""
