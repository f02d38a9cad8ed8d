"""What must hold of the answers of imported operations."""

from typing import Any

from gateway.catalogue import StoredOperation
from gateway.contract.values.schema import Validator
from gateway.encoding.replies.content import BODILESS
from gateway.testing.faces import Verdict

_REJECTED = "/problems/upstream-rejected"
_IMPOSSIBLE = "The upstream answered 501."


def breaks_document(stored: StoredOperation, result: Any) -> str | None:
    """Where a result breaks the schema of the document, or None."""
    replies = stored.whole().replies
    has_bodies = stored.head.method != "HEAD" and all(each.kind != "empty" for each in replies)
    if stored.head.results == "report" or (result == {} and not (replies and has_bodies)):
        return None
    if any(each.kind == "empty" and each.status not in BODILESS for each in replies):
        # A body that no content describes is passed on, whatever it is.
        return None
    violations = Validator(stored.result_schema()).violations(result)
    return f"{violations[0].pointer or '/'}: {violations[0].detail}" if violations else None


def is_impossible(verdict: Verdict) -> bool:
    """Whether the mock found no answer that the document allows."""
    return not verdict.accepted and verdict.body.get("detail") == _IMPOSSIBLE


def is_declared(stored: StoredOperation, verdict: Verdict) -> bool:
    """Whether a refusal is an error of the document, or a 4xx that the document leaves out."""
    declared = {each.status for each in stored.head.errors}
    return verdict.status in declared or verdict.body.get("type") == _REJECTED
