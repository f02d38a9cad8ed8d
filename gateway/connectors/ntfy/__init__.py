"""The connector `ntfy`: the code that its contracts refer to."""
