"""Mocks of imported OpenAPI documents, which remember what their callers create."""
