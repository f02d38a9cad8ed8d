"""Brings requests to the transports that serve them."""
