"""Calls that become jobs, because they take long or their contracts say so."""
