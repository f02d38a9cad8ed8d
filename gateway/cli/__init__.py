"""The command line: reads arguments, calls the gateway, prints. It decides nothing itself."""
