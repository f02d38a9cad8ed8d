"""Mock upstreams, made from their contracts: in process, and served over HTTP."""
