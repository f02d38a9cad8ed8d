"""OpenAPI Overlay 1.0 and 1.1: an author's changes to a document that itself stays untouched."""
