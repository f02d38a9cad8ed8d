"""Projects of users of the wheel: how one is made, and how ready connectors are added to it."""
