"""The connector `amadeus`: what its contracts cannot say by themselves."""
