"""The author's wing: what reads, checks and drafts contracts, and what makes code of them."""
