"""The store in a database. Only the composition root opens it."""
