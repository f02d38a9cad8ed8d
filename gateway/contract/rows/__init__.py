"""Tables and entities as contracts declare them, and the states of their rows."""
