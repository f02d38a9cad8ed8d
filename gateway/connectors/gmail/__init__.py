"""The connector `gmail`: what its contracts cannot say by themselves."""
