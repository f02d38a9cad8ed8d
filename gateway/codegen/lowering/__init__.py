"""From linted files to the records that renderers read."""
