"""Calls whose handlers ask their client: questions, answers, and the state between the runs."""

import asyncio
import hashlib
import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias

import msgspec
from msgspec import Struct

from gateway.calls.changes import CallChanges
from gateway.contract.operation import Requirement
from gateway.contract.policies.questions import (
    ASK_KINDS,
    Answer,
    AskKind,
    Elicitation,
    Elicited,
    Question,
    Root,
    RootsQuestion,
    Sampled,
    Sampling,
    kind_of,
)
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator
from gateway.errors import CallerError, GatewayError, InternalError
from gateway.store.protocols import AnswerTask
from gateway.store.records import StoredTask, TaskAnswers

# Questions as they are sent to clients, and answers as they are kept.

METHODS: Final[Mapping[AskKind, str]] = {
    "elicitation": "elicitation/create",
    "sampling": "sampling/createMessage",
    "roots": "roots/list",
}


class OpenQuestion(Struct, frozen=True):
    """An open question."""

    method: str
    params: dict[str, Any]

    @property
    def kind(self) -> AskKind:
        """What a client must be able to do to answer it."""
        return next(kind for kind, method in METHODS.items() if method == self.method)

    @property
    def digest(self) -> str:
        """Equal for equal questions."""
        text = msgspec.json.encode([self.method, self.params], order="sorted")
        return hashlib.sha256(text).hexdigest()[:16]


class Given(Struct, frozen=True):
    """An answer, as its client sent it."""

    answer: Any
    digest: str | None = None
    """Of the question that it answers. None: the client was not asked before."""


# The errors of calls whose clients cannot do what their tools need, or must answer first.

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class CapabilityMissing(CallerError):
    """The client does not declare what the tool needs."""

    stage = "authorize"

    def __init__(self, required: tuple[Requirement, ...]) -> None:
        super().__init__(f"The client must declare: {', '.join(required)}.")
        self.required = required


class InputRequired(GatewayError):
    """The tool asks its client for input. Nothing was changed."""

    stage = "ask"
    is_retryable = True

    def __init__(
        self,
        asked: Mapping[str, OpenQuestion] = NOTHING,
        given: Mapping[str, Given] = NOTHING,
    ) -> None:
        super().__init__()
        self.asked = asked
        """The open questions by key."""
        self.given = given
        """The answers so far by key."""


class InvalidAnswer(CallerError):
    """The answer to a question of the tool is not valid."""

    stage = "ask"


class NotAnswered(CallerError):
    """The client did not answer a question of the tool. Nothing was changed."""

    stage = "ask"


class StateRefused(CallerError):
    """The state of a call is not one that this caller was given for it, or it has expired."""

    stage = "ask"


# Reads answers of clients, and writes questions to them.


class _Elicited(Struct, frozen=True):
    action: str
    content: dict[str, Any] | None = None


class _Sampled(Struct, frozen=True, rename="camel"):
    role: str
    content: dict[str, Any] | list[dict[str, Any]]
    model: str
    stop_reason: str | None = None


class _Rooted(Struct, frozen=True):
    roots: list[Root]


Form: TypeAlias = type[_Elicited] | type[_Sampled] | type[_Rooted]
_FORMS: Final[Mapping[str, Form]] = {
    METHODS["elicitation"]: _Elicited,
    METHODS["sampling"]: _Sampled,
    METHODS["roots"]: _Rooted,
}
_ACTIONS: Final = ("accept", "decline", "cancel")
_ROLES: Final = ("user", "assistant")


def asked_of(question: Question) -> OpenQuestion:
    """The request of `question`, as MCP has it."""
    method = METHODS[kind_of(question)]
    match question:
        case Elicitation(message=message, schema=schema):
            form = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
            return OpenQuestion(method, form)
        case Sampling() as sampling:
            params: dict[str, Any] = {
                "messages": [dict(each) for each in sampling.messages],
                "maxTokens": sampling.max_tokens,
                **sampling.options,
            }
            if sampling.system_prompt is not None:
                params["systemPrompt"] = sampling.system_prompt
            return OpenQuestion(method, params)
        case RootsQuestion():
            return OpenQuestion(method, {})


def answer_of(key: str, asked: OpenQuestion, given: Any) -> Answer:
    """The answer that `given` is to the question with this key. Raises `InvalidAnswer`."""
    try:
        found = msgspec.convert(given, _FORMS[asked.method])
    except msgspec.ValidationError as error:
        raise InvalidAnswer(f"The answer to {key} is not valid: {error}.") from None
    match found:
        case _Elicited(action=action, content=content):
            return _elicited(key, asked, action, content)
        case _Sampled():
            return _sampled(key, found)
        case _Rooted(roots=roots):
            return tuple(roots)


def _sampled(key: str, found: _Sampled) -> Sampled:
    if found.role not in _ROLES:
        raise InvalidAnswer(f"The role of the answer to {key} is none of {_ROLES}.")
    blocks = found.content if isinstance(found.content, list) else [found.content]
    if not all(_is_block(each) for each in blocks):
        detail = "a content block has a type, and a text block has a text"
        raise InvalidAnswer(f"The answer to {key} is not valid: {detail}.")
    return Sampled(found.role, found.content, found.model, found.stop_reason)


def _is_block(block: Mapping[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and (kind != "text" or isinstance(block.get("text"), str))


def _elicited(
    key: str, asked: OpenQuestion, action: str, content: dict[str, Any] | None
) -> Elicited:
    match action:
        case "accept":
            violations = Validator(asked.params["requestedSchema"]).violations(content or {})
            if violations:
                first = violations[0]
                detail = f"{first.pointer or 'the form'} {first.detail}"
                raise InvalidAnswer(f"The answer to {key} is not valid: {detail}.")
            return Elicited("accept", content or {})
        case "decline" | "cancel":
            return Elicited(action)
        case _:
            raise InvalidAnswer(f"The action of the answer to {key} is none of {_ACTIONS}.")


def require_answer(key: str, asked: OpenQuestion, given: Any) -> None:
    """Raise `InvalidAnswer` unless `given` answers the question with this key."""
    answer_of(key, asked, given)


def size_of(given: Mapping[str, Given]) -> int:
    """How many bytes the answers have as JSON text."""
    return len(jsontext.encode({key: each.answer for key, each in given.items()}))


# The questions of one run of a handler.
#
# A question without an answer ends the run. Once the client has answered, the handler runs again
# from the start, with the answers at hand. So it asks the same questions in the same order, and it
# asks before it changes anything.

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

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
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


# Questions and answers as JSON text, as the store keeps them with a job.

_asked = msgspec.json.Decoder(dict[str, OpenQuestion]).decode
_given = msgspec.json.Decoder(dict[str, Given]).decode


def asks_text(asking: Asking) -> str:
    """See `NewTask.asks`."""
    return " ".join(sorted(asking.job_kinds))


def given_text(given: Mapping[str, Given]) -> bytes | None:
    """See `NewTask.answers`."""
    return msgspec.json.encode(given) if given else None


def asking_of_task(task: StoredTask) -> Asking:
    """What the client of the job can be asked, and what it has answered."""
    named = (task.asks or "").split()
    kinds = frozenset(each for each in ASK_KINDS if each in named)
    return Asking(kinds=kinds, given=_given(task.answers or b"{}"))


def open_questions(text: bytes) -> dict[str, Any]:
    """The questions as the client gets them, by key."""
    return {
        key: {"method": each.method, "params": each.params} for key, each in _asked(text).items()
    }


def texts_of(error: InputRequired) -> tuple[bytes, bytes]:
    """The questions and the answers so far."""
    return msgspec.json.encode(error.asked), msgspec.json.encode(error.given)


def answering(answers: Mapping[str, Any]) -> AnswerTask:
    """Adds `answers` to those of a job. It ignores keys that are not open.

    What it returns raises `InvalidAnswer`.
    """

    def add(questions: bytes, answered: bytes) -> TaskAnswers:
        asked, given = _asked(questions), _given(answered)
        for key, answer in answers.items():
            question = asked.pop(key, None)
            if question is not None:
                require_answer(key, question, answer)
                given[key] = Given(answer, question.digest)
        if size_of(given) > MAX_GIVEN_BYTES:
            raise InvalidAnswer(f"The answers have more than {MAX_GIVEN_BYTES:,} bytes.")
        texts = msgspec.json.encode(asked), msgspec.json.encode(given)
        return TaskAnswers(*texts, is_complete=not asked)

    return add
