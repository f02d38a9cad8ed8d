"""Links of replies (OpenAPI 3.2 §4.20): where their values come from and where they go."""
