"""The meaning of an upstream's error, by its status and its body, and what it says of itself."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from gateway.contract.upstream import (
    RefusalMeaning,
    Reply,
    Upstream,
    status_names,
)
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


class UpstreamRefusal(Struct, frozen=True, kw_only=True):
    """The meaning of a reply that reports an error."""

    means: RefusalMeaning | Literal["timeout", "forbidden", "foreign"]
    """`forbidden`: 403 for a reason that the contract does not know. `foreign`: the upstream's API
    does not answer so; what answered is at a wrong address, or stands in between."""
    code: str = ""
    """The upstream's own code, if it is one word."""
    fix: str = ""
    has_happened: bool = True
    """These two are as in `RefusalRule`."""
    is_ruled: bool = False
    """Whether a rule of the contract says so, and not the status."""

    @property
    def is_operators(self) -> bool:
        """Whether a rule says that it is a matter of the operator."""
        return self.is_ruled and self.means not in {"rejected", "not_found"}

    @property
    def is_by_status(self) -> bool:
        """Whether a binding or a handler may say by the status what it means."""
        return not self.is_ruled and self.means != "foreign"


def refusal_of(upstream: Upstream, reply: Reply) -> UpstreamRefusal:
    """The meaning of `reply`, which has a status of 400 or more. Never raises."""
    names = status_names(reply.status)
    rules = [rule for rule in upstream.refusals if rule.status in names]
    body = _error_body(reply) if rules or upstream.errors_at else None
    for rule in rules:
        text = _text(body, rule.pointer)
        if text is not None and (text in rule.values or text.startswith(rule.begins)):
            return UpstreamRefusal(
                means=rule.means,
                code=_code_in(reply, body, (rule.pointer, *upstream.errors_at[:1])),
                fix=rule.fix,
                has_happened=rule.has_happened,
                is_ruled=True,
            )
    is_own = not upstream.errors_at or any(_has(body, at) for at in upstream.errors_at)
    knows_not_found = any(rule.means == "not_found" for rule in rules)
    is_foreign = not is_own or (knows_not_found and reply.status == 404)
    # Where the contract knows what the upstream says of credentials, a 401 may be something else.
    knows_credentials = bool(upstream.errors_at and rules)
    means = _by_status(reply.status, is_foreign=is_foreign, knows_credentials=knows_credentials)
    return UpstreamRefusal(means=means, code=_code_in(reply, body, upstream.errors_at[:1]))


def _by_status(
    status: int, *, is_foreign: bool, knows_credentials: bool
) -> RefusalMeaning | Literal["timeout", "forbidden", "foreign"]:
    if status in {408, 504}:
        return "timeout"
    if status == 429:
        return "rate_limited"
    if status >= 500:
        return "unavailable"
    if is_foreign:
        return "foreign"
    if status == 401 and not knows_credentials:
        return "credentials"
    return "forbidden" if status in {401, 403} else "rejected"


def _error_body(reply: Reply) -> Any:
    if len(reply.body) > MAX_ERROR_BYTES:
        return None
    try:
        return jsontext.decode(reply.body, jsontext.REPLY)
    except jsontext.NotJson:
        return None


def _has(body: Any, pointer: str) -> bool:
    try:
        return follow(body, pointer) is not None
    except NoSuchPlace:
        return False


def _code_in(reply: Reply, body: Any, pointers: Iterable[str]) -> str:
    """The first code. One that only repeats the status says nothing."""
    codes = (plain_code(_text(body, each)) for each in pointers)
    return next((each for each in codes if each not in {"", str(reply.status)}), "")


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
