"""What an error of an upstream means, by its status and one value of its body."""

from collections.abc import Sequence
from typing import Any, Final

from gateway.contract import jsontext
from gateway.contract.pointers import NoSuchPlace, follow
from gateway.contract.upstream import RefusalRule, Reply

MAX_ERROR_BYTES: Final = 256 * 1024
"""No error is longer; a longer body is not read for its meaning."""


def matching_rule(rules: Sequence[RefusalRule], reply: Reply) -> RefusalRule | None:
    """The first rule that holds for `reply`, or None. Never raises, whatever the body is."""
    candidates = [rule for rule in rules if rule.status in _statuses(reply.status)]
    if not candidates or len(reply.body) > MAX_ERROR_BYTES:
        return None
    try:
        body = jsontext.decode(reply.body, jsontext.REPLY)
    except jsontext.NotJson:
        return None
    return next((rule for rule in candidates if _text(body, rule.pointer) in rule.values), None)


def _statuses(status: int) -> tuple[str, str]:
    return str(status), f"{status // 100}XX"


def _text(body: Any, pointer: str) -> str | None:
    """The value as text: vendors write codes as numbers one day and as strings the next."""
    try:
        value = follow(body, pointer)
    except NoSuchPlace:
        return None
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    return None
