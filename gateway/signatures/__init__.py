"""Proof that a message is from who it says. Each scheme is one module; `registry` lists them."""
