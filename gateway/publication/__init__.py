"""What clients are shown of the tools. Calls are checked by the contracts, whatever is shown."""
