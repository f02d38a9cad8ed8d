"""What the composition root builds, one file for each group of objects."""
