"""`gateway doctor`: its checks, part by part."""
