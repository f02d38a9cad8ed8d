"""What the lists of clients weigh."""
