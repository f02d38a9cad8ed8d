"""The errors of PostgREST and PostgreSQL, with their codes and statuses."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.mock import MockRefusal, MockReply

_STATUSES: Final[Mapping[str, int]] = {
    "PGRST103": 416,
    "PGRST205": 404,
    "PGRST301": 401,
    "23505": 409,
    "42501": 403,
}
"""Of the codes whose status is not 400."""


class TableRefusal(Exception):
    """The request cannot be served."""

    def __init__(self, code: str, message: str, details: str | None = None) -> None:
        super().__init__(message)
        self.reply = error(_STATUSES.get(code, 400), code, message, details)


def error(status: int, code: str, message: str, details: str | None = None) -> MockReply:
    """An error reply in PostgREST's form."""
    body = {"code": code, "message": message, "details": details, "hint": None}
    return MockReply(status=status, body=body)


def no_key() -> MockReply:
    """The refusal of what stands before PostgREST in a project. It has no code."""
    hint = "No `apikey` request header or url param was found."
    return MockReply(status=401, body={"message": "No API key found in request", "hint": hint})


def refuse(refusal: MockRefusal) -> Any:
    """The body for a request that the contract does not allow, or for a fault that is played."""
    if refusal.path == "table":
        message = "Could not find the table in the schema cache"
        return error(404, "PGRST205", message).body
    if refusal.status >= 500:
        return error(refusal.status, "PGRST000", "Could not connect with the database").body
    if refusal.status == 429:
        return {"message": "Too many requests"}
    code = "PGRST102" if refusal.status == 422 else "PGRST100"
    return error(400, code, refusal.title, refusal.path or None).body


def finish(reply: MockReply) -> MockReply:
    """Set the status that belongs to the code of a refusal."""
    code = reply.body.get("code") if isinstance(reply.body, dict) else None
    status = reply.status
    if code == "PGRST205":
        status = 404
    elif code == "PGRST102":
        status = 400
    return MockReply(status=status, headers=reply.headers, body=reply.body)


def unknown_column(table: str, name: str) -> TableRefusal:
    """PostgreSQL's undefined_column."""
    return TableRefusal("42703", f"column {table}.{name} does not exist")
