"""Work that outlives a request: claimed, tried, finished or given up."""
