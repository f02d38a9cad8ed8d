"""The connector `sheets`: the code that its contracts refer to."""
