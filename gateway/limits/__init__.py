"""Limits for unauthenticated clients and for hosts: rates, connections and bytes by address."""
