"""`gateway jobs`: the jobs of a key at a remote gateway."""
