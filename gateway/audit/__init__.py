"""The audit: one record of each call, with its outcome."""

from gateway.audit.log import AuditLog

__all__ = ["AuditLog"]
