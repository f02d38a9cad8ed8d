"""What is known of the values that a field map reads and makes."""
