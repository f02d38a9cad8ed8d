"""The limits of calls: which apply, what they have counted, and what callers are told."""
