"""Keys, grants and scopes as contracts and agents name them."""
