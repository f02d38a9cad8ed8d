"""Gateways elsewhere, as commands are told of them."""
