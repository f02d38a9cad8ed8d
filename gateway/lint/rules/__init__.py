"""Every rule by id: how grave it is, what it means, and how to fix what breaks it."""
