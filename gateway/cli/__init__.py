"""The command line: reads arguments, calls the gateway and prints. It has no logic of its own."""
