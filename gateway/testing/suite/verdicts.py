"""MCP and REST never disagree, whatever the arguments, for every operation of the project."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from gateway.contract.selection import FIELDS, published_output
from gateway.contract.values.pointers import follow, pointer_of
from gateway.contract.values.schema import Validator
from gateway.testing.authority import Authority
from gateway.testing.cases import UNKNOWN, Case, callable_alone, example_cases, first_example
from gateway.testing.fixtures import Loop
from gateway.testing.gateways import CaseAnswers, Faces, open_faces
from gateway.testing.generation import (
    budget,
    expected,
    invalid_arguments,
    valid_arguments,
    with_known_values,
)
from gateway.testing.judging import agree
from gateway.testing.reducing import must_agree
from gateway.testing.suite.replies import places, with_odd

__all__ = [
    "test_a_result_that_breaks_its_contract_reaches_no_caller",
    "test_a_selection_is_answered_alike_and_fits_what_is_published",
    "test_an_argument_that_is_left_out_means_its_default",
    "test_bytes_at_random_never_break_a_face",
    "test_invalid_arguments_are_refused_alike_and_nothing_is_sent",
    "test_text_that_is_not_strict_json_is_refused_on_every_face",
    "test_texts_that_are_easily_changed_arrive_as_they_were_sent",
    "test_the_examples_of_the_contract_work_on_every_face",
    "test_valid_arguments_are_accepted_alike",
]

_MEMBERS_ASKED = 2
_EASILY_CHANGED: Final = (" {}", "{} ", "{}e\u0301")
"""Texts that trimming or normalising would change."""


async def known_values(faces: Faces, entry: Entry) -> dict[str, list[Any]]:
    """By name of an argument, the values that results of the contracts' own examples hold.

    Operations whose results have no property of that name are not asked.
    """
    names = set(entry.listing.input_schema.get("properties", ()))
    found: dict[str, list[Any]] = {}
    for each in callable_alone(faces.catalogue):
        if names.isdisjoint(each.listing.output_schema.get("properties", ())):
            continue
        for example in faces.catalogue.examples(each).values():
            answer = await faces.rest(each, json.dumps(example).encode())
            for name in names.intersection(answer.body) if answer.accepted else ():
                found.setdefault(name, []).append(answer.body[name])
    return found


def test_valid_arguments_are_accepted_alike(
    gateway_faces: Faces, gateway_loop: Loop, gateway_operation: str
) -> None:
    """Accepted, or refused by a declared error: the same on every face, and never a failure.

    Or refused as invalid by what no schema can say, and then nothing has been sent.
    """
    run = gateway_loop.run_until_complete
    entry = gateway_faces.catalogue.find(gateway_operation)
    known = run(known_values(gateway_faces, entry))

    @budget()
    @given(arguments=valid_arguments(gateway_faces.catalogue, entry), names_known=st.booleans())
    def check(arguments: bytes, names_known: bool) -> None:
        if names_known:
            arguments = with_known_values(entry, arguments, known)
        run(must_agree(gateway_faces, Case(entry.id, arguments, "generated", "admitted")))

    check()


def test_invalid_arguments_are_refused_alike_and_nothing_is_sent(
    gateway_faces: Faces, gateway_loop: Loop, gateway_operation: str
) -> None:
    run = gateway_loop.run_until_complete
    entry = gateway_faces.catalogue.find(gateway_operation)

    @budget()
    @given(arguments=invalid_arguments(gateway_faces.catalogue, entry))
    def check(arguments: bytes) -> None:
        run(must_agree(gateway_faces, Case(entry.id, arguments, "generated", "invalid")))

    check()


def test_the_examples_of_the_contract_work_on_every_face(
    gateway_faces: Faces,
    gateway_loop: Loop,
    gateway_written_operation: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Reads answer the same body; writes make something new each time, or refuse what is made.

    What an example names may be missing, or changed by other tests. Then a gateway is asked that
    only the examples of the connector were sent to.
    """
    run = gateway_loop.run_until_complete
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    examples = gateway_faces.catalogue.examples(entry)

    assert len(examples) >= 2
    for name, example in examples.items():
        text = json.dumps(example).encode()
        case = Case(entry.id, text, name, "admitted")
        found = run(gateway_faces.ask_all(entry, text))
        if not any(each.accepted for each in found.answers.values()):
            found = run(answers_anew(tmp_path_factory.mktemp("gateway"), case))
        agree(found.verdicts(case, gateway_faces.catalogue))
        assert "VALIDATION_ERROR" not in {answer.code for answer in found.answers.values()}
        refused = {face: each.refusal for face, each in found.answers.items() if not each.accepted}
        assert len(refused) < len(found.answers), f"{name} has a result on no face: {refused}"


async def answers_anew(folder: Path, case: Case) -> CaseAnswers:
    """The answers of a new gateway, after the examples of the connector."""
    async with open_faces(folder) as faces:
        entry = faces.catalogue.find(case.contract)
        for each in example_cases(faces.catalogue, entry.operation.connector):
            await faces.rest(faces.catalogue.find(each.contract), each.arguments)
        return await faces.ask_all(entry, case.arguments)


def test_a_selection_is_answered_alike_and_fits_what_is_published(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """Of the operations with `fields`: for each member of a result, the result without others."""
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    if entry.members is None:
        return
    run = gateway_loop.run_until_complete
    example = next(iter(gateway_faces.catalogue.examples(entry).values()))
    whole = run(gateway_faces.rest(entry, json.dumps(example).encode()))
    listing = entry.listing
    published = Validator(published_output(listing.input_schema, listing.output_schema))
    for name in [*whole.body][:_MEMBERS_ASKED] if whole.accepted else ():
        arguments = json.dumps({**example, FIELDS: [name]}).encode()
        answers = run(gateway_faces.ask_all(entry, arguments)).answers
        assert all(each.body == {name: whole.body[name]} for each in answers.values())
        assert published.admits({name: whole.body[name]})


def test_texts_that_are_easily_changed_arrive_as_they_were_sent(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """White space around each text of an example, or an accent of its own, where it is valid."""
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    example = first_example(gateway_faces.catalogue, entry)
    for path in places(example):
        text = follow(example, pointer_of(path))
        for form in _EASILY_CHANGED if isinstance(text, str) else ():
            arguments = json.dumps(with_odd(example, path, form.format(text))).encode()
            if expected(entry, arguments) == "admitted":
                case = Case(entry.id, arguments, f"{pointer_of(path)} as {form!r}", "admitted")
                gateway_loop.run_until_complete(must_agree(gateway_faces, case))


def test_a_result_that_breaks_its_contract_reaches_no_caller(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """Whatever a tool makes. Kept results have been checked when they were made."""
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    authority = Authority(entry.listing.output_schema)
    example = json.dumps(first_example(gateway_faces.catalogue, entry)).encode()
    for wrong in ({}, {UNKNOWN: None}) if not entry.operation.cache_seconds else ():
        if authority.says(wrong) == "invalid":
            gateway_faces.tools.result = wrong
            found = gateway_loop.run_until_complete(gateway_faces.ask_all(entry, example))
            gateway_faces.tools.result = None
            assert not any(each.accepted for each in found.answers.values()), wrong


def default_pairs(faces: Faces, entry: Entry) -> Iterator[tuple[bytes, bytes]]:
    """Of each argument with a default: arguments without it, and the same with the default."""
    example = first_example(faces.catalogue, entry)
    for name, member in entry.listing.input_schema.get("properties", {}).items():
        if "default" in member:
            rest = {each: value for each, value in example.items() if each != name}
            texts = [json.dumps(e).encode() for e in (rest, {**rest, name: member["default"]})]
            if {expected(entry, text) for text in texts} == {"admitted"}:
                yield texts[0], texts[1]


def _steady(found: CaseAnswers, entry: Entry) -> tuple[Any, Any]:
    """The request and the result of a case. None: there is none, or each call has another one."""
    sent = [each for each in found.requests if each is not None]
    bodies = [each.body for each in found.answers.values()]
    is_read = entry.operation.effect is Effect.READ
    return (
        sent[0] if sent and all(each == sent[0] for each in sent) else None,
        bodies[0] if is_read and all(each == bodies[0] for each in bodies) else None,
    )


def test_an_argument_that_is_left_out_means_its_default(
    gateway_faces: Faces, gateway_loop: Loop, gateway_written_operation: str
) -> None:
    """The same is sent to the upstream, and a read is answered with the same."""
    entry = gateway_faces.catalogue.find(gateway_written_operation)
    for pair in default_pairs(gateway_faces, entry):
        asking = (gateway_faces.ask_all(entry, text) for text in pair)
        left_out, given = (_steady(gateway_loop.run_until_complete(e), entry) for e in asking)
        for one, other in zip(left_out, given, strict=True):
            assert one == other or one is None or other is None, pair[1].decode()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (b'{"a":1,"a":1}', -32600),
        (b'{"a":NaN}', -32700),
        (b'{"a":"\\ud800 x"}', -32600),
        (b'{"a":"\xff"}', -32700),
        (b'{"a":' * 70 + b"1" + b"}" * 70, -32600),
        (b'{"a":', -32700),
        (b'{"a":1e999}', -32600),
    ],
)
def test_text_that_is_not_strict_json_is_refused_on_every_face(
    gateway_faces: Faces, gateway_loop: Loop, arguments: bytes, code: int
) -> None:
    for entry in callable_alone(gateway_faces.catalogue)[:1]:
        found = gateway_loop.run_until_complete(gateway_faces.ask_all(entry, arguments))
        rest, *mcp = found.answers.values()

        assert (rest.status, rest.code) == (400, "VALIDATION_ERROR")
        assert {answer.status for answer in mcp} == {code}
        assert not found.is_sent


@budget()
@given(text=st.binary(max_size=200))
def test_bytes_at_random_never_break_a_face(
    gateway_faces: Faces, gateway_loop: Loop, text: bytes
) -> None:
    for entry in callable_alone(gateway_faces.catalogue)[:1]:
        found = gateway_loop.run_until_complete(gateway_faces.ask_all(entry, text))
        rest, *mcp = found.answers.values()

        assert rest.status in {400, 422}
        assert not any(answer.accepted for answer in mcp)
