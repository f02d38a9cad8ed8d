"""Reads OpenAPI documents of every version into one form: OpenAPI 3.1, JSON Schema 2020-12."""
