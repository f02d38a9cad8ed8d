"""Commands for contract authors: lint, generate, look at tools, call them, verify them."""
