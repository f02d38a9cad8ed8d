"""Failures of a stored message that no further attempt repairs."""

from collections.abc import Sequence
from typing import Any, Final

from gateway.contract.values.jsontext import NotJson
from gateway.contract.values.violation import Violation
from gateway.store.records import Mismatch, StoredWebhook
from gateway.webhooks.message import read_body
from gateway.webhooks.source import OpenSource

CONTRACT_CHANGED: Final = "contract_changed"
_MAX_DETAIL: Final = 500


class PermanentFailure(Exception):
    """A message cannot be processed by any further attempt. The text contains no payload."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(f"{error}: {detail}")
        self.error = error
        """A class of failures, such as `contract_changed`."""
        self.detail = detail


def payload_of(webhook: StoredWebhook, source: OpenSource) -> Any:
    """The value of its body, as `source` reads it. Raises `PermanentFailure`."""
    if webhook.body is None:
        raise PermanentFailure("forgotten", "The message is not stored any more.")
    try:
        return read_body(source.form_of(webhook), webhook.body)
    except NotJson as error:
        raise PermanentFailure(
            CONTRACT_CHANGED, f"/ is not the JSON that is read today: {error}"
        ) from None


def described(refusals: Sequence[Mismatch | Violation]) -> str:
    """Refusals in one line for an operator."""
    return "; ".join(f"{each.pointer or '/'} {each.detail}" for each in refusals)[:_MAX_DETAIL]
