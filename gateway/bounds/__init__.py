"""Bounds of what strangers and hosts may use: requests, connections and bytes by address."""
