"""Field maps and event maps: read, checked, proved, and compiled to Python."""
