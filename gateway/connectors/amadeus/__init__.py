"""The connector `amadeus`: the code that its contracts refer to."""
