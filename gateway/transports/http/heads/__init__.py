"""The heads of HTTP requests: their checks, and what is kept of a head that passed them."""
