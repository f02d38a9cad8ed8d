"""The connector `frankfurter`: what its contracts cannot say by themselves."""
