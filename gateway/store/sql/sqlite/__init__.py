"""What SQLite needs beside SQL: its file, its connections and the lock of its one server."""
