"""A verification finds what one transport does otherwise than the others or than the contract."""

import os
from collections.abc import Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from gateway.catalogue import Catalogue, Entry, open_catalogue
from gateway.cli.authoring.findings import as_lines
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.operation import Effect
from gateway.testing import verify as subject
from gateway.testing.cases import example_cases
from gateway.testing.judging import masked, varying
from gateway.testing.served import TRANSPORTS, World
from gateway.testing.transports import CallAnswer, TransportFailed

GREET = "example.greet"


@cache
def catalogue() -> Catalogue:
    """That of this repository, opened by the first test that needs it."""
    return open_catalogue("generated", HANDLER_PACKAGES)


class Step(Struct):
    """A call, as the transports of these tests are asked to make it."""

    id: str
    arguments: dict[str, Any]


Answering = Callable[[Step], dict[str, Any]]


class CallRefused(Exception):
    """The status of the refusal, its code and its detail."""


def greeting(step: Step) -> dict[str, Any]:
    if step.id != GREET:
        return {"result": 1}
    return {"greeting": f"Hello, {step.arguments['name']}!"}


def transport(answer: Answering):
    @asynccontextmanager
    async def opened(gateways):
        async def ask(entry: Entry, arguments: bytes) -> CallAnswer:
            try:
                values = answer(Step(entry.id, msgspec.json.decode(arguments)))
            except CallRefused as refused:
                status, code, detail = refused.args
                return CallAnswer(False, status, code, frozenset(), {"detail": detail})
            return CallAnswer(True, 200, None, frozenset(), values)

        yield ask

    return opened


async def verdicts(monkeypatch, tmp_path, **others: Answering):
    """The verdicts on the example tools, with transports that greet but for `others`."""
    transports = {name: transport(others.get(name.split()[0], greeting)) for name in TRANSPORTS}
    monkeypatch.setattr(subject, "TRANSPORTS", transports)
    world = World(tmp_path, tuple(catalogue().upstreams), {})
    cases = example_cases(catalogue(), "example")
    found = await subject.verify(catalogue(), world, cases, lambda _: None)
    return {verdict.operation: verdict for verdict in found}


async def test_transports_that_agree_are_verified(monkeypatch, tmp_path) -> None:
    found = await verdicts(monkeypatch, tmp_path)

    assert found.keys() == {"example.calculate", GREET}
    assert all(verdict.is_verified for verdict in found.values())
    assert found[GREET].verified == dict.fromkeys(TRANSPORTS, 2)


def otherwise(step: Step) -> dict[str, Any]:
    return {"greeting": "Hi!"} if step.id == GREET else greeting(step)


def beyond_the_contract(step: Step) -> dict[str, Any]:
    return greeting(step) | {"more": 1}


def refusing(step: Step) -> dict[str, Any]:
    raise CallRefused(503, "TRANSPORT_ERROR", "It is down.")


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        (otherwise, "differs from REST"),
        (beyond_the_contract, "is not a known property"),
        (refusing, "It is down."),
    ],
)
async def test_one_transport_that_strays_is_named(monkeypatch, tmp_path, answer, reported) -> None:
    verdict = (await verdicts(monkeypatch, tmp_path, stdio=answer))[GREET]

    assert not verdict.is_verified
    assert (verdict.verified["stdio"], verdict.verified["REST"]) == (0, 2)
    assert all("at stdio" in failure and reported in failure for failure in verdict.failures)
    (tmp_path / "tools/example").mkdir(parents=True)
    (tmp_path / "tools/example/greet.yaml").touch()
    first, fix, *_ = as_lines([*subject.findings([verdict], tmp_path)])
    assert first.startswith("schemas/tools/example/greet.yaml:1: error verify/")
    assert fix.startswith("  fix: make the call again: gateway ")


async def test_what_varies_from_run_to_run_is_reported_and_no_difference(
    monkeypatch, tmp_path
) -> None:
    count = iter(range(1000))

    def counting(step: Step) -> dict[str, Any]:
        return {"greeting": f"Hello {next(count)}"} if step.id == GREET else greeting(step)

    verdict = (await verdicts(monkeypatch, tmp_path, REST=counting, MCP=counting, stdio=counting))[
        GREET
    ]

    assert verdict.is_verified
    assert verdict.varying == ("/greeting",)


async def test_an_answer_whose_shape_varies_is_a_failure(monkeypatch, tmp_path) -> None:
    count = iter(range(1000))

    def erratic(step: Step) -> dict[str, Any]:
        is_second_pass = next(count) >= len(example_cases(catalogue(), "example"))
        return greeting(step) | ({"more": 1} if is_second_pass else {})

    verdict = (await verdicts(monkeypatch, tmp_path, REST=erratic))[GREET]

    assert any("in one run and missing in another" in failure for failure in verdict.failures)


async def test_a_transport_that_does_not_open_ends_the_verification(monkeypatch, tmp_path) -> None:
    def gone(step: Step) -> dict[str, Any]:
        raise ConnectionResetError

    with pytest.raises(TransportFailed, match=r"stdio: example.calculate"):
        await verdicts(monkeypatch, tmp_path, stdio=gone)


def test_every_example_is_planned_and_writes_come_first() -> None:
    plan = example_cases(catalogue())
    document = msgspec.json.decode(catalogue().openapi)
    declared = sum(
        len(item["post"]["requestBody"]["content"]["application/json"]["examples"])
        for path, item in document["paths"].items()
        if path.startswith("/v1/") and not path.startswith("/v1/jobs")
    )

    assert len(plan) == declared
    for connector in catalogue().connectors:
        called = [catalogue().find(each.contract).operation for each in plan]
        operations = [each for each in called if each.connector == connector]
        reads = [operation.effect is Effect.READ for operation in operations]
        assert reads == sorted(reads)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON, JSON)
def test_two_values_are_the_same_once_what_varies_is_masked_and_only_then(one, other) -> None:
    pointers = frozenset(varying(one, other))
    text = msgspec.json.Encoder(order="deterministic").encode

    assert masked(one, pointers) == masked(other, pointers)
    assert bool(pointers) == (text(one) != text(other))


async def test_a_time_that_two_runs_share_by_chance_still_varies(monkeypatch, tmp_path) -> None:
    """One example differs between the two runs of REST, the other happens not to."""
    count = iter(range(1000))

    def by_chance(step: Step) -> dict[str, Any]:
        if step.id != GREET:
            return greeting(step)
        number = next(count)
        return {"greeting": "same" if number % 2 else f"run {number}"}

    def elsewhere(step: Step) -> dict[str, Any]:
        return {"greeting": "later"} if step.id == GREET else greeting(step)

    verdict = (
        await verdicts(monkeypatch, tmp_path, REST=by_chance, MCP=elsewhere, stdio=elsewhere)
    )[GREET]

    assert verdict.is_verified


def test_the_processes_serve_what_the_command_was_given_and_find_its_modules(monkeypatch, tmp_path):
    monkeypatch.setenv("GATEWAY_DATA", "/somewhere/else")
    monkeypatch.setattr("sys.path", ["", "/project", "/lib"])
    environment = World(tmp_path, ("avinode",), {"GATEWAY_PACKAGE": "libcat"}).environment()
    assert environment["GATEWAY_PACKAGE"] == "libcat"
    assert environment["PYTHONPATH"].split(os.pathsep) == ["/project", "/lib"]
    assert environment["GATEWAY_BACKEND_AVINODE"] == "mock"
    assert "GATEWAY_DATA" not in environment


def test_what_the_processes_printed_last_is_kept(tmp_path):
    text = "".join(f"line {number}\n" for number in range(30))
    (tmp_path / "serve-0.stderr").write_text(text, "utf-8")
    said = World(tmp_path, (), {}).last_words()
    assert (said[0], said[-1], len(said)) == ("line 20", "line 29", 10)
