"""Proof that a message is from who it says: Standard Webhooks, HMAC headers, HTTP Basic."""
