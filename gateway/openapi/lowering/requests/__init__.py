"""What an operation sends: its arguments, parameters and body."""
