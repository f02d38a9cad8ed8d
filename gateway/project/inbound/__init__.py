"""Drafts of providers from what a vendor's document says that the vendor sends."""
