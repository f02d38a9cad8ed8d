"""The connector `golf`: what its contracts cannot say by themselves."""
