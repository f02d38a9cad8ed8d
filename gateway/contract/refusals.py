"""The meaning of an upstream's error, by its status and its body, and what it says of itself."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from gateway.contract.upstream import RefusalRule, Reply, status_names
from gateway.contract.values import jsontext
from gateway.contract.values.hidden import visible, visible_text
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.contract.values.schema import Validator

MAX_ERROR_BYTES: Final = 256 * 1024
"""Longer bodies of errors are not parsed."""
MAX_BODY_BYTES: Final = 4096
"""The largest body of an error that a problem repeats. Of a larger one, only the begin is kept."""
MAX_TEXT: Final = 1000
"""The most characters of a text that a problem repeats."""
MAX_SENTENCE: Final = 300
_CODE: Final = re.compile(r"[A-Za-z0-9_]{1,64}")
_SENTENCES: Final = (
    "message",
    "detail",
    "error_description",
    "error_message",
    "errorMessage",
    "description",
    "msg",
    "reason",
    "title",
    "error",
    "errors",
    "fault",
    "details",
)
"""The members of errors that hold a sentence, or the object or list that does. Those that RFC 9457,
RFC 6749, JSON:API, and most vendors use, the most exact first."""
_DEPTH: Final = 3
_FIRST: Final = 20
"""How many items of a list are looked at."""


class UpstreamAnswer(Struct, frozen=True, kw_only=True):
    """What an upstream answered, for the caller and the operator. Its texts are the upstream's."""

    status: int
    is_declared: bool = field(default=False, name="declared")
    """Whether the upstream's contract describes this body, and the body keeps to it."""
    body: Any = UNSET
    """The JSON value, without hidden characters, if it is not larger than `MAX_BODY_BYTES`."""
    text: str | UnsetType = UNSET
    """The begin of any other text that is not a page."""

    def without(self, secrets: Iterable[str], mark: str) -> "UpstreamAnswer":
        """The same with `mark` in place of each of the texts `secrets`."""
        longest_first = sorted(secrets, key=len, reverse=True)
        if not longest_first:
            return self
        pattern = re.compile("|".join(map(re.escape, longest_first)))
        body = UNSET if self.body is UNSET else _masked(self.body, pattern, mark)
        text = UNSET if isinstance(self.text, UnsetType) else pattern.sub(mark, self.text)
        return replace(self, body=body, text=text)

    @property
    def sentence(self) -> str:
        """The sentence that explains the error, on one line. Empty if there is none."""
        found = self.text if isinstance(self.text, str) else _sentence(self.body, _DEPTH)
        line = " ".join(found.split())
        return line if len(line) <= MAX_SENTENCE else line[: MAX_SENTENCE - 1] + "…"


def upstream_answer(reply: Reply, validator: Validator | None) -> UpstreamAnswer:
    """What `reply` says. `validator`: that of the declared body; None if none is declared."""
    status = reply.status
    essence = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not reply.body or len(reply.body) > MAX_ERROR_BYTES or essence.endswith("html"):
        return UpstreamAnswer(status=status)
    try:
        value = jsontext.decode(reply.body, jsontext.REPLY)
    except jsontext.NotJson:
        is_text = essence.startswith("text/") or essence.endswith("xml") or not essence
        text = reply.body[: 4 * MAX_TEXT].decode("utf-8", "replace") if is_text else ""
        return UpstreamAnswer(status=status, text=_begin(visible_text(text)[0]) or UNSET)
    is_declared = validator is not None and validator.admits(value)
    written = jsontext.encode(value)
    if len(written) > MAX_BODY_BYTES:
        # The sentence may be far behind, but it is what a caller needs most.
        text = _sentence(value, _DEPTH) or written[: 4 * MAX_TEXT].decode("utf-8", "ignore")
        text = _begin(visible_text(text[: 4 * MAX_TEXT])[0])
        return UpstreamAnswer(status=status, is_declared=is_declared, text=text)
    return UpstreamAnswer(status=status, is_declared=is_declared, body=visible(value)[0])


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


def with_sentence(detail: str, answer: UpstreamAnswer | None) -> str:
    """`detail` and the upstream's own sentence, marked as such."""
    sentence = "" if answer is None else answer.sentence
    if not sentence or sentence in detail:
        return detail
    return f'{detail.rstrip(".")}. The upstream says: "{sentence}"'


def _begin(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _sentence(value: Any, depth: int) -> str:
    """The first text of `value` at one of `_SENTENCES`, or in an object or list there."""
    match value:
        case str():
            return value
        case Mapping() if depth:
            found = (_sentence(value[name], depth - 1) for name in _SENTENCES if name in value)
            return next(filter(None, found), "")
        case list() if depth:
            found = (_sentence(each, depth - 1) for each in value[:_FIRST])
            return next(filter(None, found), "")
        case _:
            return ""


def _masked(value: Any, pattern: re.Pattern[str], mark: str) -> Any:
    match value:
        case str():
            return pattern.sub(mark, value)
        case dict():
            return {
                pattern.sub(mark, name): _masked(each, pattern, mark)
                for name, each in value.items()
            }
        case list():
            return [_masked(each, pattern, mark) for each in value]
        case int() | float() if not isinstance(value, bool) and pattern.fullmatch(str(value)):
            return mark
        case _:
            return value
