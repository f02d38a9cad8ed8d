"""The checks of webhooks, events and entities."""
