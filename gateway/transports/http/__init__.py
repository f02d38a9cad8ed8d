"""HTTP for all transports: checks of requests, their senders, and answers to errors."""
