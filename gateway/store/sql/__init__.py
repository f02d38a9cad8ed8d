"""The store in a database.

The composition root opens it, and so do `gateway keys` and `gateway doctor`.
"""
