"""The connector `example`: the code that its contracts refer to."""
