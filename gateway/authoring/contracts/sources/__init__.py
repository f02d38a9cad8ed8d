"""Contract files as written: values with line numbers, and the references between files."""
