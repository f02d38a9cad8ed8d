"""The connector `entities`: what its contracts cannot say by themselves."""
