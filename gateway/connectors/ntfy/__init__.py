"""The connector `ntfy`: what its contracts cannot say by themselves."""
