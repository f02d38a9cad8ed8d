"""The connector `frankfurter`: the code that its contracts refer to."""
