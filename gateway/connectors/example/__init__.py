"""The connector `example`: what its contracts cannot say by themselves."""
