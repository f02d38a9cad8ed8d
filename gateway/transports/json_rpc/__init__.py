"""JSON-RPC as texts: what is one message, and what is answered to other texts."""
