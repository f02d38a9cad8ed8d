"""Links of imported documents: which are followed, how, and the report of it.

To follow a link is to call its source, to take the values that it names, and to call its target.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import pytest
from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.workflows.expressions import NoValue, Root, Source, Values, as_text
from gateway.backends.mock.documents import made_arguments
from gateway.catalogue import Catalogue, Entry, StoredOperation
from gateway.catalogue.stored import StoredDocument
from gateway.contract.imported import ImportedLink, LinkInput, LinkValue
from gateway.contract.operation import Effect
from gateway.contract.values.pointers import steps
from gateway.testing import PER_DOCUMENT
from gateway.testing.cases import MADE_NUMBER, OperationDraw, stored_operation
from gateway.testing.gateways import Faces
from gateway.testing.things import DocumentThings
from gateway.testing.transports import MODERN, CallAnswer

REASON: Final = "gateway link not followed"
"""The property of a test's report that says why."""
PROBLEMS: Final = pytest.StashKey[Sequence[str]]()
"""The links that cannot be followed, whatever is answered."""
_TEST: Final = "test_a_link_leads_from_one_answer_to_the_next["
_MAX_PROBLEMS: Final = 20


def drawn_links(catalogue: Catalogue, draw: OperationDraw) -> Iterator[str]:
    """The links of each document that are followed, as `<operation>#<number>`."""
    for document in catalogue.imported.values():
        found = [
            f"{each.head.id}#{number}"
            for each in document.operations
            for number, link in enumerate(each.whole().links)
            if link.problem is None
        ]
        chosen = found if draw.is_whole else sorted(found, key=draw.rank)[:PER_DOCUMENT]
        yield from (each for each in found if each in chosen)


def link_of(catalogue: Catalogue, name: str) -> tuple[StoredOperation, ImportedLink]:
    """The operation and the link that `<operation>#<number>` names."""
    operation_id, _, number = name.partition("#")
    stored = stored_operation(catalogue, operation_id)
    return stored, stored.whole().links[int(number)]


def named(operation_id: str, link: ImportedLink, reason: str) -> str:
    """A line about a link that is not followed. Names of a document are shown as literals."""
    return f"{operation_id}, link {link.name!r} at {link.pointer!r}: {reason}"


def link_problems(catalogue: Catalogue) -> Iterator[str]:
    """The links of all documents that cannot be followed, with the reason."""
    for document in catalogue.imported.values():
        for each in document.operations:
            for link in each.whole().links:
                if link.problem is not None:
                    yield named(each.head.id, link, link.problem)


def link_lines(
    problems: Sequence[str], reports: Mapping[str, Sequence[Any]], draw: OperationDraw
) -> Iterator[str]:
    """How many links were followed, and each one that was not, with the reason."""
    tests: list[pytest.TestReport] = [
        each
        for outcome in ("passed", "failed", "skipped")
        for each in reports.get(outcome, ())
        if each.when == "call" and _TEST in each.nodeid
    ]
    reasons = [dict(each.user_properties).get(REASON) for each in tests]
    others = [str(each) for each in reasons if each is not None]
    if tests:
        drawn = "" if draw.is_whole else f", at most {PER_DOCUMENT} of each document"
        followed = len(tests) - len(others)
        yield f"gateway: {followed} of {amount(len(tests), 'link')} were followed{drawn}"
    for each in (*others, *problems[:_MAX_PROBLEMS]):
        yield f"  not followed: {each}"
    if len(problems) > _MAX_PROBLEMS:
        number = len(problems) - _MAX_PROBLEMS
        yield f"  not followed: {number} more; `gateway import --dry-run --json` names them"


_ROOTS: Final[Mapping[str, Root]] = {"arguments": "request", "result": "response"}
_NOTHING: Final = "The upstream answered 404."


class NotFollowed(Exception):
    """A link that was not followed, and why. Neither the document nor the gateway is wrong."""


class Followed(Struct, frozen=True, kw_only=True):
    """The answers of a link that was followed."""

    source: CallAnswer
    arguments: Mapping[str, Any]
    """What the link gives to its target, with what else that needs."""
    target: CallAnswer
    again: CallAnswer | None
    """The same call over MCP. None: it would change something a second time."""


class LinkFollower:
    """Follows the links of one document on its mock, which remembers what calls make."""

    def __init__(self, faces: Faces, document: StoredDocument, seed: int) -> None:
        self._faces = faces
        self._seed = seed
        self.things = DocumentThings(document)

    async def follow(self, operation_id: str, link: ImportedLink) -> Followed:
        """The answers. Raises `NotFollowed` where values are missing, or nothing can be there."""
        arguments, source = await self._source(operation_id)
        entry = self._faces.catalogue.find(link.target)
        given = self._given(link, entry, arguments, source.body)
        target = await self._answer(entry, given)
        if target.status == 400 and target.code == "VALIDATION_ERROR":
            raise NotFollowed(
                "a value of the sample cannot be sent, such as an empty text in a path"
            )
        is_known = self.is_same_thing(operation_id, source, link.target, given)
        if _is_missing(target) and not is_known:
            raise NotFollowed("the mock has no such thing: the document does not show who makes it")
        again = None
        if entry.operation.effect is Effect.READ:
            again = await self._faces.mcp(entry, json.dumps(given).encode(), MODERN)
        return Followed(source=source, arguments=given, target=target, again=again)

    def is_same_thing(
        self, operation_id: str, source: CallAnswer, target: str, given: Mapping[str, Any]
    ) -> bool:
        """Whether the target is called about the thing that the source has answered."""
        identity = self.things.identity(operation_id, source.body)
        asked = self.things.is_about(target, given, operation_id)
        return identity is not None and asked is not None and str(identity) == str(asked)

    async def _source(self, operation_id: str) -> tuple[Mapping[str, Any], CallAnswer]:
        entry = self._faces.catalogue.find(operation_id)
        existing = await self._existing(operation_id)
        for made in made_arguments(entry, MADE_NUMBER, self._seed):
            arguments = _fitted(entry, made, existing)
            if entry.input.admits(arguments):
                answer = await self._answer(entry, arguments)
                if answer.accepted:
                    return arguments, answer
        raise NotFollowed("no call of its operation is answered with a success")

    async def _existing(self, operation_id: str) -> dict[str, Any]:
        """The arguments that name a thing which exists, if the operation is on one."""
        for other in self.things.showing(operation_id):
            entry = self._faces.catalogue.find(other)
            for made in made_arguments(entry, MADE_NUMBER, self._seed):
                answer = await self._answer(entry, made)
                if answer.accepted:
                    return self.things.named(operation_id, other, made, answer.body)
        return {}

    def _given(
        self, link: ImportedLink, entry: Entry, arguments: Mapping[str, Any], result: Any
    ) -> dict[str, Any]:
        """The arguments of the target: the values of the link, and samples of what else it needs.

        Raises `NotFollowed`.
        """
        given: dict[str, Any] = {}
        state = Values(request=arguments, response=result)
        for each in link.inputs:
            given |= self._input(link.target, each, _value(each.parts, state))
        made = (
            next(iter(made_arguments(entry, MADE_NUMBER, self._seed)), {})
            if {*entry.listing.input_schema.get("required", ())} - given.keys()
            else {}
        )
        found = _fitted(entry, made, given)
        violations = entry.input.violations(found)
        if violations:
            where = f"{violations[0].pointer}: {violations[0].detail}"
            raise NotFollowed(f"its target does not take these values: {where}")
        return found

    def _input(self, target: str, given: LinkInput, value: Any) -> dict[str, Any]:
        if given.member is not None:
            return {given.member: value}
        body = self.things.operations[target].body
        if body is None or not isinstance(value, dict):
            raise NotFollowed("the value for the body is no object")
        members = {name: member for member, name in body.members.items()}
        if unknown := sorted(value.keys() - members.keys()):
            raise NotFollowed(f"the body of its target has no member {unknown[0]!r}")
        return {members[name]: each for name, each in value.items()}

    async def _answer(self, entry: Entry, arguments: Mapping[str, Any]) -> CallAnswer:
        return await self._faces.rest(entry, json.dumps(arguments).encode())


def _value(parts: tuple[LinkValue, ...], state: Values) -> Any:
    found = [_part(each, state) for each in parts]
    return found[0] if len(found) == 1 else "".join(map(as_text, found))


def _part(part: LinkValue, state: Values) -> Any:
    if part.source == "constant":
        return part.constant
    found = None
    with suppress(NoValue):
        root = _ROOTS[part.source]
        found = Source(part.pointer, root, path=(*steps(part.pointer),)).read(state)
    if found is None:
        raise NotFollowed(f"the sample has no value at {part.pointer} of its {part.source}")
    return found


def _fitted(entry: Entry, made: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Samples with the `given` values, as numbers or as texts, whichever the schema admits."""
    found = {**made, **given}
    for violation in entry.input.violations(found):
        name = violation.pointer.removeprefix("/")
        if name in given:
            found[name] = _retyped(given[name])
    return found


def _retyped(value: Any) -> Any:
    """A number as text, or a text as the number that it says: both are sent alike."""
    if isinstance(value, str):
        return int(value) if value.removeprefix("-").isdecimal() and value.isascii() else value
    return value if isinstance(value, bool | dict | list) else json.dumps(value)


def _is_missing(answer: CallAnswer) -> bool:
    is_undeclared = not answer.accepted and answer.body.get("detail") == _NOTHING
    return answer.status == 404 or is_undeclared
