"""Contract files as they are written: values with their lines, and the references among them."""
