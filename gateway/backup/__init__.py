"""The whole state of a gateway in one sealed file, and back."""
