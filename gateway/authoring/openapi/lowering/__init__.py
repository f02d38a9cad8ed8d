"""Makes the record of an imported connector from an OpenAPI document and a selection."""
