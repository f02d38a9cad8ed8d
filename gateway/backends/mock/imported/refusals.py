"""Refusals of the mock of an imported document: declared errors, or problem details (RFC 9457)."""

from typing import Any, Final

from gateway.backends.mock.damage import damaged
from gateway.backends.mock.faults import Fault
from gateway.backends.mock.imported.replies import PROBLEM, body_of, media_type_of, reply_of
from gateway.backends.mock.imported.schemas import Schemas
from gateway.backends.mock.requests import RequestRefused
from gateway.backends.mock.samples.answers import overlaid
from gateway.backends.mock.samples.errors import NoSample
from gateway.backends.wire import WireReply
from gateway.contract.imported import ImportedOperation, ImportedReply
from gateway.contract.mock import MockRefusal
from gateway.contract.values import jsontext

_TEXTS: Final = ("title", "detail", "message", "error", "error_description", "description")
_STATUSES: Final = ("status", "code", "statusCode", "status_code")
_AROUND: Final = "error"
"""The member that often holds an object with the error."""


class Refusals:
    """Makes the replies to requests that are refused."""

    def __init__(self, schemas: Schemas, seed: str) -> None:
        self._schemas = schemas
        self._seed = seed

    def reply(
        self, operation: ImportedOperation | None, refused: RequestRefused, fault: Fault
    ) -> WireReply:
        """The error that the document declares for the status, or else a problem."""
        refusal = refused.refusal
        headers = fault_headers(fault)
        if refused.allow:
            headers["allow"] = ", ".join(refused.allow)
        declared = None if operation is None else reply_of(operation, refusal.status)
        made = None if declared is None else self._declared(declared.reply, refusal)
        media_type, body = made or (PROBLEM, _problem(refusal))
        if media_type is not None:
            headers["content-type"] = media_type
        return WireReply(
            status=refusal.status,
            headers=headers,
            body=damaged(body, fault.damage, None) if fault.damage != "break-contract" else body,
            is_cut=fault.damage == "close",
            body_delay_seconds=fault.body_latency_seconds,
        )

    def impossible(self, operation: ImportedOperation | None, error: NoSample) -> WireReply:
        """501: the mock finds no valid answer to this operation."""
        problem = {
            "type": "about:blank",
            "title": "The mock finds no valid answer.",
            "status": 501,
            "detail": f"{error}; correct the schemas of its replies, or use the live upstream",
        }
        if operation is not None:
            problem |= {"operation": operation.id, "pointer": operation.pointer}
        headers = {"content-type": PROBLEM}
        return WireReply(status=501, headers=headers, body=jsontext.encode(problem))

    def _declared(
        self, reply: ImportedReply, refusal: MockRefusal
    ) -> tuple[str | None, bytes] | None:
        """The media type and the body of a declared error. None if there is no valid one."""
        if reply.kind in {"binary", "events"}:
            return None
        try:
            value = self._value(reply, refusal)
        except NoSample:
            return None
        return media_type_of(reply), body_of(reply, value)

    def _value(self, reply: ImportedReply, refusal: MockRefusal) -> Any:
        if reply.kind == "empty":
            return None
        samples = self._schemas.samples(reply.schema)
        if reply.kind == "text" and samples.admits(refusal.title):
            return refusal.title
        value = samples.sample(self._seed, str(refusal.status), is_short=True)
        if not isinstance(value, dict):
            return value
        said = self._said(samples.schema, refusal)
        inner = self._schemas.shapes.properties(samples.schema).get(_AROUND)
        if _AROUND not in said or isinstance(value.get(_AROUND), dict):
            said[_AROUND] = self._said(inner, refusal)
        return overlaid(value, {k: v for k, v in said.items() if v}, samples.admits)

    def _said(self, schema: Any, refusal: MockRefusal) -> dict[str, Any]:
        """What the members of an error usually say, for the members that `schema` declares."""
        known = self._schemas.shapes.properties(schema)
        said: dict[str, Any] = dict.fromkeys(_TEXTS, refusal.title)
        said |= dict.fromkeys(_STATUSES, refusal.status)
        return {name: each for name, each in said.items() if name in known}


def fault_headers(fault: Fault) -> dict[str, str]:
    """The headers that a fault adds.

    Documents do not declare which headers report a limit. These are the ones of the IETF's draft
    (draft-ietf-httpapi-ratelimit-headers-07).
    """
    found: dict[str, str] = {}
    if fault.exhausted_seconds is not None:
        found |= {"ratelimit-remaining": "0", "ratelimit-reset": str(fault.exhausted_seconds)}
    if fault.retry_after_seconds is not None:
        found["retry-after"] = str(fault.retry_after_seconds)
    if fault.status is not None and 300 <= fault.status < 400:
        found["location"] = "/"
    return found


def _problem(refusal: MockRefusal) -> bytes:
    problem = {"type": "about:blank", "title": refusal.title, "status": refusal.status}
    if refusal.path:
        problem["pointer"] = refusal.path
    return jsontext.encode(problem)
