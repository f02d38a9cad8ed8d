"""Mock upstreams, built from their contracts: in the process, or served over HTTP."""
