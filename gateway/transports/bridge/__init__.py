"""The bridge: a stdio server that passes messages on to a gateway elsewhere."""
