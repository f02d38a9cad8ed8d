"""The tables of the gateway's own database. A change of a table needs a migration."""
