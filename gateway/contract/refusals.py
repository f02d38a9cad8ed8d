"""The meaning of an upstream's error, by its status and one value of its body."""

import re
from collections.abc import Sequence
from typing import Any, Final

from gateway.contract.upstream import RefusalRule, Reply, status_names
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import NoSuchPlace, follow

MAX_ERROR_BYTES: Final = 256 * 1024
"""Longer bodies of errors are not parsed."""
_CODE: Final = re.compile(r"[A-Za-z0-9_]{1,64}")


def matching_rule(rules: Sequence[RefusalRule], reply: Reply) -> RefusalRule | None:
    """The first rule that matches `reply`, or None. Never raises, also for an invalid body."""
    candidates = [rule for rule in rules if rule.status in status_names(reply.status)]
    if not candidates or len(reply.body) > MAX_ERROR_BYTES:
        return None
    try:
        body = jsontext.decode(reply.body, jsontext.REPLY)
    except jsontext.NotJson:
        return None
    return next((rule for rule in candidates if _text(body, rule.pointer) in rule.values), None)


def plain_code(value: object) -> str:
    """The code of an error if it is one word, else an empty text.

    Other parts of an error may repeat what was sent, including secrets.
    """
    return value if isinstance(value, str) and _CODE.fullmatch(value) else ""


def with_code(what: str, value: object) -> str:
    """The sentence `what`, passed without its full stop, with the code `value` if that is plain."""
    code = plain_code(value)
    return f"{what}: {code}." if code else f"{what}."


def _text(body: Any, pointer: str) -> str | None:
    """The value as text, because vendors write codes as numbers or as strings."""
    try:
        value = follow(body, pointer)
    except NoSuchPlace:
        return None
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    return None
