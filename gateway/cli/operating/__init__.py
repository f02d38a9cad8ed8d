"""Commands for operators: audit, webhooks, dead letters, endpoints, events, backups."""
