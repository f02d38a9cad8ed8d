"""Why there is no sample."""


class NoSample(Exception):
    """No value of the schema was found. There may be none, or it is too hard to find."""
