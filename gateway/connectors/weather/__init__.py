"""The connector `weather`: what its contracts cannot say by themselves."""
