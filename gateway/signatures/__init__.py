"""Signature schemes, which authenticate the sender of a message.

Each scheme is one module. `registry` lists the schemes.
"""
