"""The questions of one run of a handler.

A question without an answer ends the run. Once the client has answered, the handler runs again from
the start, with the answers at hand. So it asks the same questions in the same order, and it asks
before it changes anything.
"""

import asyncio
import re
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Any, Final, NoReturn

from msgspec import Struct

from gateway.calls.asking.asked import answer_of, asked_of, size_of
from gateway.calls.asking.errors import CapabilityMissing, InputRequired, InvalidAnswer
from gateway.calls.asking.wire import Given, OpenQuestion
from gateway.calls.changes import CallChanges
from gateway.contract.policies.questions import Answer, AskKind, Elicitation, Question, kind_of
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator
from gateway.errors import GatewayError, InternalError

MAX_QUESTIONS: Final = 20
"""The most questions of one call, over all of its runs. So it also limits the runs."""
MAX_ASKED_BYTES: Final = 64 * 1024
MAX_GIVEN_BYTES: Final = 256 * 1024
"""The largest answers of one call together, as JSON text."""
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_FIELD_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array"})


class Asking(Struct, frozen=True, kw_only=True):
    """What the client of a call can be asked, and what it has answered."""

    kinds: frozenset[AskKind] = frozenset()
    job_kinds: frozenset[AskKind] = frozenset()
    """What it can be asked if the call becomes a job."""
    given: Mapping[str, Given] = {}
    """Its answers by key."""


NOBODY: Final[Asking] = Asking()
"""Nobody can be asked."""


class AskedNow(BaseException):
    """Ends the run of a handler. It is no `Exception`, so that no handler catches it by mistake."""


class CallQuestions:
    """The questions of one run. Its `with` block is the run, and raises what the run ended with."""

    def __init__(
        self,
        operation: str,
        declared: Collection[AskKind],
        asking: Asking,
        changes: CallChanges,
    ) -> None:
        """`declared`: the kinds that the contract names. `changes`: those of the run."""
        self._operation = operation
        self._declared = declared
        self._asking = asking
        self._changes = changes
        self._given = dict(asking.given)
        self._keys: set[str] = set()
        self._used: dict[str, Given] = {}
        self._open: dict[str, OpenQuestion] = {}
        self._failure: GatewayError | None = None

    def can_ask(self, kind: AskKind) -> bool:
        """Whether the client can be asked this."""
        return kind in self._declared and kind in self._asking.kinds

    async def ask_all(self, questions: Mapping[str, Question]) -> dict[str, Answer]:
        """The answers. Raises `AskedNow` if one is missing, and `InternalError` for defects."""
        if self._failure is not None:
            raise AskedNow
        asked = {self._admitted(key, each): asked_of(each) for key, each in questions.items()}
        if self._changes.have_begun:
            # Also with the answer at hand: it may be invalid, and the call could not be repeated.
            raise self._defect("asks after it may have changed something: ask first")
        lacking = tuple(dict.fromkeys(each.kind for each in asked.values()))
        lacking = tuple(kind for kind in lacking if kind not in self._asking.kinds)
        if lacking:
            self._end(CapabilityMissing(lacking))
        missing = {key: each for key, each in asked.items() if self._known(key, each) is None}
        if missing:
            self._ask(missing)
        found: dict[str, Answer] = {}
        for key, each in asked.items():
            given = self._known(key, each)
            if given is not None:
                found[key] = self._read(key, each, given)
        return found

    def require_open(self) -> None:
        """Raise `AskedNow` if the run has ended with a question, though its handler goes on."""
        if self._open or self._failure is not None:
            raise AskedNow

    def next_key(self, question: Question) -> str:
        """The key of a question without one: the handler asks in the same order each time."""
        return f"{kind_of(question)}-{len(self._keys) + 1}"

    def __enter__(self) -> "CallQuestions":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, asyncio.CancelledError):
            return
        if self._failure is not None:
            self._failure.frees_key = not self._changes.have_begun
            raise self._failure from None
        if self._open:
            raise InputRequired(self._open, self._kept()) from None

    def _kept(self) -> dict[str, Given]:
        """The answers to all questions that the call has asked, in earlier runs too."""
        earlier = {key: each for key, each in self._given.items() if each.digest is not None}
        return earlier | self._used

    def _ask(self, missing: Mapping[str, OpenQuestion]) -> NoReturn:
        asked = {self._wire_key(key, each): each for key, each in missing.items()}
        self._require_small(asked)
        if len({*self._kept(), *self._open, *asked}) > MAX_QUESTIONS:
            raise self._defect(f"asks more than {MAX_QUESTIONS} questions")
        self._open |= asked
        raise AskedNow

    def _admitted(self, key: str, question: Question) -> str:
        """The key, if the handler may ask this. Raises `InternalError`."""
        kind = kind_of(question)
        if kind not in self._declared:
            raise self._defect(f"asks for {kind}, which x-binding.asks does not name")
        if not _KEY.fullmatch(key):
            raise self._defect(f"asks with the key {key!r}, which is not like [A-Za-z0-9_.-]+")
        if key in self._keys:
            raise self._defect(f"asks twice with the key {key!r}")
        if isinstance(question, Elicitation):
            self._require_form(key, question.schema)
        self._keys.add(key)
        if len(self._keys) > MAX_QUESTIONS:
            raise self._defect(f"asks more than {MAX_QUESTIONS} questions")
        return key

    def _require_form(self, key: str, schema: Mapping[str, Any]) -> None:
        if not _is_form(schema):
            raise self._defect(f"asks {key} with a schema that is no form")
        try:
            Validator(dict(schema))
        except ValueError as error:
            raise self._defect(f"asks {key} with a schema that is not valid: {error}") from None

    def _wire_key(self, key: str, asked: OpenQuestion) -> str:
        """The key as the client gets it: another one if the question is not the one of before."""
        return key if key not in self._given else f"{key}.{asked.digest[:8]}"

    def _known(self, key: str, asked: OpenQuestion) -> Given | None:
        """The answer to exactly this question."""
        for each in (f"{key}.{asked.digest[:8]}", key):
            given = self._given.get(each)
            if given is not None and given.digest in {None, asked.digest}:
                self._used[each] = Given(given.answer, asked.digest)
                return given
        return None

    def _read(self, key: str, asked: OpenQuestion, given: Given) -> Answer:
        if size_of(self._used) > MAX_GIVEN_BYTES:
            self._end(InvalidAnswer(f"The answers have more than {MAX_GIVEN_BYTES:,} bytes."))
        try:
            return answer_of(key, asked, given.answer)
        except InvalidAnswer as error:
            self._failure = error
            raise AskedNow from None

    def _require_small(self, asked: Mapping[str, OpenQuestion]) -> None:
        if len(jsontext.encode(asked)) > MAX_ASKED_BYTES:
            raise self._defect(f"asks questions of more than {MAX_ASKED_BYTES:,} bytes")

    def _end(self, failure: GatewayError) -> None:
        self._failure = failure
        raise AskedNow

    def _defect(self, what: str) -> InternalError:
        return InternalError(f"{self._operation} {what}")


def _is_form(schema: Mapping[str, Any]) -> bool:
    """Whether a client can show it: an object whose members are not nested."""
    members = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(members, Mapping):
        return False
    return all(
        isinstance(each, Mapping) and each.get("type") in _FIELD_TYPES for each in members.values()
    )
