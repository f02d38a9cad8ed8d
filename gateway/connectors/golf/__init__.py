"""The connector `golf`: the code that its contracts refer to."""
