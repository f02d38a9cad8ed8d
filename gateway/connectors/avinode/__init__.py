"""The connector `avinode`: what its contracts cannot say by themselves."""
