"""Webhooks, jobs, events and deliveries: what is received, claimed, ended and kept."""
