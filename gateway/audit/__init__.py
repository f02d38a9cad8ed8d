"""The audit: one record of every call, whatever became of it."""

from gateway.audit.log import AuditLog

__all__ = ["AuditLog"]
