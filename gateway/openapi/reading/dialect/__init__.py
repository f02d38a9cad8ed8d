"""Schema Objects of all OpenAPI versions, brought to JSON Schema 2020-12."""
