"""The connector `weather`: the code that its contracts refer to."""
