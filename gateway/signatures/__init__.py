"""Signature schemes, which prove who sent a message. Each is one module; `registry` lists them."""
