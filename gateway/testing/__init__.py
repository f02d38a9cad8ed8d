"""The contract suite: tests that follow from the contracts of a project, for pytest."""
