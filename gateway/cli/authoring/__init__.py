"""Commands for contract authors: check contracts, generate code, list, call and verify tools."""
