"""SQLite: its file, its connections, and the lock that allows one server."""
