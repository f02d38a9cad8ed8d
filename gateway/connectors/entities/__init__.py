"""The connector `entities`: the code that its contracts refer to."""
