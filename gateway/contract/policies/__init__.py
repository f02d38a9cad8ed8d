"""What policies declare besides grants."""
