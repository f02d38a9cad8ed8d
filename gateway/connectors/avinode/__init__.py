"""The connector `avinode`: the code that its contracts refer to."""
