"""Results that are too large to be sent whole: they are cut, and a tool returns the next part."""

import base64
import hashlib
import hmac
import zlib
from collections.abc import Iterator
from copy import copy
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from gateway.catalogue import Entry
from gateway.contract.agent_view import CONTINUE_RESULT
from gateway.contract.operation import Effect, ImportedBinding
from gateway.contract.values.jsontext import encode
from gateway.contract.values.pointers import pointer_of
from gateway.publication.own_tools import Hints, Offer, OwnTool, own_tool

# Continuations: sealed texts that name the next part of a result.
#
# Nothing is stored: the text has all that is needed to make the call again. Its seal is made with a
# secret of the caller, which the gateway gets with each request. So every process can open it, and
# only for the caller that it was given to.

MAX_LENGTH: Final = 2048
"""Characters. A model has to repeat the text."""
_SEAL: Final = 16
_MAX_BYTES: Final = 64 * 1024
_PURPOSE: Final = b"contract-gateway continuation 1\0"


class Continuation(Struct, frozen=True, array_like=True):
    """The next part of a result."""

    operation: str
    arguments: str
    """The JSON text of the arguments, as the caller wrote them."""
    start: int
    """The first item of the part."""
    digest: str
    """Of the items before `start`: see `ResultPart.digest`."""


class NotSealed(ValueError):
    """The text is no continuation that was given to this caller."""


def sealed(continuation: Continuation, secret: bytes) -> str | None:
    """The text of `continuation` for the caller with `secret`. None if it would be too long."""
    body = zlib.compress(msgspec.json.encode(continuation), 9)
    text = base64.urlsafe_b64encode(_seal(body, secret) + body).rstrip(b"=").decode()
    return text if len(text) <= MAX_LENGTH else None


def unsealed(text: str, secret: bytes) -> Continuation:
    """The continuation of `text`. Raises `NotSealed`."""
    if len(text) > MAX_LENGTH or not text.isascii():
        raise NotSealed
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise NotSealed from None
    seal, body = found[:_SEAL], found[_SEAL:]
    if not hmac.compare_digest(seal, _seal(body, secret)):
        raise NotSealed
    # Only the gateway makes the seal, so what it seals is well-formed. Its size is still bounded.
    plain = zlib.decompressobj().decompress(body, _MAX_BYTES)
    return msgspec.json.decode(plain, type=Continuation)


def _seal(body: bytes, secret: bytes) -> bytes:
    key = hashlib.sha256(_PURPOSE + secret).digest()
    return hmac.digest(key, body, "sha256")[:_SEAL]


# The tool that returns the next part of a result that was too large to be sent whole.


def continuing_tools(offer: Offer) -> tuple[OwnTool, ...]:
    """The tool, for callers with a read whose results may have parts: a list or a long text."""
    return (_TOOL,) if any(map(_may_have_parts, offer.entries)) else ()


_LONG: Final = 10_000
"""Characters of a text that may be cut. Agents can be given limits for results as low as this."""
_TOOL = own_tool(
    CONTINUE_RESULT,
    "Continue a result",
    "Get the next part of a result that was too large for one answer.",
    {
        "type": "object",
        "properties": {
            "continuation": {"type": "string", "description": "From the part before, unchanged."}
        },
        "required": ["continuation"],
        "additionalProperties": False,
    },
    Hints(open_world=True),
)


def _may_have_parts(entry: Entry) -> bool:
    if entry.operation.effect is not Effect.READ or entry.operation.has_blocks:
        return False
    if isinstance(entry.operation.binding, ImportedBinding):
        return entry.operation.selects_fields or not entry.operation.file_types
    return _has_parts(entry.listing.output_schema)


def _has_parts(schema: Any) -> bool:
    """Whether a value of `schema` may have a list or a long text, at any depth."""
    if isinstance(schema, list):
        return any(map(_has_parts, schema))
    if not isinstance(schema, dict):
        return False
    is_long = isinstance(most := schema.get("maxLength"), int) and most >= _LONG
    return is_long or "items" in schema or any(map(_has_parts, schema.values()))


# Cuts a result by whole items of its largest lists, so that it fits into a number of bytes.
#
# If no list can be cut, its longest texts are: by lines, and long lines by sections.

_Path: TypeAlias = tuple[str | int, ...]
_Cut: TypeAlias = "dict[str | int, _Cut] | slice | str"
"""What is kept of a list or a text, or by names and positions what is cut below a value."""
_COMMA: Final = 1
_QUOTES: Final = 2
_SECTION: Final = 160
"""The most characters of an item of a text. They fit into the smallest limit of an agent."""


class _List(Struct, frozen=True):
    path: _Path
    items: list[Any]
    sizes: list[int]
    """Of each item as JSON text, in bytes."""
    is_text: bool = False
    """Whether the items are the lines of a text."""

    @property
    def size(self) -> int:
        return sum(self.sizes) + (0 if self.is_text else _COMMA * (len(self.sizes) - 1))

    def kept(self, start: int, end: int) -> "slice | str":
        """What is left of it with the items from `start` to `end`."""
        return "".join(self.items[start:end]) if self.is_text else slice(start, end)


class ResultPart(Struct, frozen=True, kw_only=True):
    """A result with some of its items: those from `start` on, before `end`."""

    values: dict[str, Any]
    start: int
    end: int
    total: int
    """The number of items of the lists that are cut, together."""
    lists: tuple[str, ...]
    """JSON Pointers to these lists, in the order of their items."""
    is_text: bool
    """Whether `lists` are texts, whose items are lines."""
    digest: str
    """Of the items before `end`. With another digest, they are not the ones that the caller has."""


class CuttableResult:
    """A result whose largest lists can be cut. Their items are counted through, list by list."""

    def __init__(
        self, values: dict[str, Any], lists: list[_List], rest: int, max_bytes: int
    ) -> None:
        self._values = values
        self._lists = lists
        self._room = max_bytes - rest
        self._sizes = [size for each in lists for size in each.sizes]

    def part(self, start: int) -> ResultPart | None:
        """As many items as fit, from `start` on. None if there is none, or it does not fit."""
        end, room = start, self._room
        for size in islice(self._sizes, start, None):
            room -= size + _COMMA
            if room < 0:
                break
            end += 1
        if end == start:
            return None
        return ResultPart(
            values=_sliced(self._values, self._cut(start, end)),
            start=start,
            end=end,
            total=len(self._sizes),
            lists=tuple(pointer_of(each.path) for each in self._lists),
            is_text=any(each.is_text for each in self._lists),
            digest=self.digest(end),
        )

    def digest(self, end: int) -> str:
        """Identifies the lists and their items before `end`."""
        found = hashlib.sha256(encode([each.path for each in self._lists]))
        items = (item for each in self._lists for item in each.items)
        for item in islice(items, end):
            found.update(encode(item) + b"\n")
        return found.hexdigest()[:32]

    def _cut(self, start: int, end: int) -> _Cut:
        cut: dict[str | int, _Cut] = {}
        before = 0
        for each in self._lists:
            *above, last = each.path
            place: Any = cut
            for step in above:
                place = place.setdefault(step, {})
            place[last] = each.kept(max(start - before, 0), max(end - before, 0))
            before += len(each.items)
        return cut


def cuttable(values: dict[str, Any], size: int, max_bytes: int) -> CuttableResult | None:
    """`values`, of `size` bytes as JSON text, to be cut to `max_bytes`. None if it cannot be cut.

    The largest lists are cut until half of `max_bytes` holds everything else. Only if no item of
    them fits, the lists inside their items are cut instead, and if there is none, the texts.
    """
    for find in (_lists, partial(_lists, nested_above=max_bytes // 2), _texts):
        found = list(find(values, ()))
        chosen: set[_Path] = set()
        rest = size
        for each in sorted(found, key=lambda each: each.size, reverse=True):
            if rest <= max_bytes // 2:
                break
            chosen.add(each.path)
            rest -= each.size
        lists = [each for each in found if each.path in chosen]
        result = CuttableResult(values, lists, rest, max_bytes)
        if result.part(0) is not None:
            return result
    return None


def largest_members(values: dict[str, Any], count: int) -> list[tuple[str, int]]:
    """The largest members and their sizes in bytes as JSON text, the largest first."""
    sizes = [(name, len(encode(member))) for name, member in values.items()]
    return sorted(sizes, key=lambda each: each[1], reverse=True)[:count]


def _texts(value: Any, path: _Path) -> Iterator[_List]:
    """The texts of `value` that are longer than a section."""
    if isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, member in steps:
            yield from _texts(member, (*path, step))
    elif isinstance(value, str) and len(value) > _SECTION:
        lines = [
            line[at : at + _SECTION]
            for line in value.splitlines(keepends=True)
            for at in range(0, len(line), _SECTION)
        ]
        yield _List(path, lines, [len(encode(line)) - _QUOTES for line in lines], is_text=True)


def _lists(value: Any, path: _Path, nested_above: int | None = None) -> Iterator[_List]:
    """The lists of `value`, outermost first.

    With `nested_above`, those inside a list whose items are larger take the place of that list.
    """
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _lists(member, (*path, name), nested_above)
    elif isinstance(value, list) and value:
        sizes = [len(encode(each)) for each in value]
        inner: list[_List] = []
        if nested_above is not None and max(sizes) > nested_above:
            for index, each in enumerate(value):
                inner += _lists(each, (*path, index), nested_above)
        yield from inner or [_List(path, value, sizes)]


def _sliced(value: Any, cut: _Cut) -> Any:
    """`value` with only the items of the slices of `cut`. What is not cut is not looked at."""
    if isinstance(cut, str):
        return cut
    if isinstance(cut, slice):
        return value[cut]
    kept = copy(value)
    for step, below in cut.items():
        kept[step] = _sliced(value[step], below)
    return kept
