"""The connector `gmail`: the code that its contracts refer to."""
