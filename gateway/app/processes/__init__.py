"""The processes that serve a data folder."""
