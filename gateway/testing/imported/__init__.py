"""Tests of imported operations: which are tested, with which arguments, and what must hold."""
