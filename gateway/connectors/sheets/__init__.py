"""The connector `sheets`: what its contracts cannot say by themselves."""
