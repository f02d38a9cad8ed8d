"""The store in a database. Nothing outside the composition opens it."""
