"""JSON text, pointers, schemas, and characters that nobody sees."""
