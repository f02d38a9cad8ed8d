"""JSON text, pointers, schemas, and hidden characters."""
