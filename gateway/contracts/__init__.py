"""Reading contracts: files, references, findings, and what is remembered of an earlier run."""
