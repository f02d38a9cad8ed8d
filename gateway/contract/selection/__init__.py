"""The argument `fields` of reads: the members of a result that its caller wants."""
