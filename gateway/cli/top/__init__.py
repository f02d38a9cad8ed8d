"""`gateway top`: a view of a running gateway, from its metrics."""
