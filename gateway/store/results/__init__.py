"""Results of reads that processes share."""
