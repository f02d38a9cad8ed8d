"""Tables and entities as contracts declare them, and the state machines of their rows."""
