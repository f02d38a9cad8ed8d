"""Arguments on their way in, and results on their way out."""

import pytest

from gateway.auth.authorize import Policy
from gateway.auth.principal import Grant, Permit, Principal
from gateway.calls.call import Outcome
from gateway.calls.validation import check_result, decode_arguments
from gateway.catalogue import Entry
from gateway.contract.operation import Effect, Escalation
from gateway.contract.values.schema import Validator
from gateway.errors import InvalidArguments, InvalidResult, MalformedRequest, NotPermitted
from tests.unit.calls.shop import operation

PERMIT = Permit(Grant(None, None))  # type: ignore[arg-type]  # what is no JSON meets no schema


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (b"[" + b'{"a":[1]},' * 10_001 + b"1]", "more than 10000 names"),
        (b'{"a":[' + b"1," * 100_000 + b"1]}", "more than 100000 values"),
    ],
)
def test_arguments_that_hold_too_much_are_refused_before_their_schema_is_asked(
    text: bytes, detail: str
) -> None:
    """Checking them all would keep every other caller waiting for the better part of a second."""
    with pytest.raises(MalformedRequest, match=detail):
        decode_arguments(PERMIT, text)


ESCALATION = Escalation(when="buy", grant="shop.order", requires=("key",))


def permit(agent: str = "buyer") -> Permit:
    entry = Entry(
        operation(escalation=ESCALATION), None, None, Validator({"type": "object"}), Validator({})
    )  # type: ignore[arg-type]  # neither tool nor listing is looked at
    return Permit(Grant(Principal(subject="key", agent=agent), entry))


@pytest.mark.parametrize("text", [b"{}", b'{"buy":false}', b'{"buy":false,"key":"k"}'])
def test_without_its_argument_an_escalating_tool_is_a_read(text: bytes) -> None:
    assert decode_arguments(permit().entry, text).effect is Effect.READ


def test_the_argument_makes_it_a_write() -> None:
    assert decode_arguments(permit().entry, b'{"buy":true,"key":"k"}').effect is Effect.WRITE


def test_an_escalation_requires_what_its_contract_says() -> None:
    with pytest.raises(InvalidArguments) as invalid:
        decode_arguments(permit().entry, b'{"buy":true}')

    (violation,) = invalid.value.violations
    assert (violation.pointer, violation.keyword) == ("/key", "required")


def test_an_escalation_needs_its_own_grant() -> None:
    policy = Policy(
        {"buyer": frozenset({"shop.buy", "shop.order"}), "reader": frozenset({"shop.buy"})}
    )

    policy.authorize_arguments(permit("buyer").grant, {}, Effect.WRITE)
    policy.authorize_arguments(permit("reader").grant, {}, Effect.READ)
    with pytest.raises(NotPermitted, match="buy"):
        policy.authorize_arguments(permit("reader").grant, {}, Effect.WRITE)


def test_a_result_that_needs_its_hidden_characters_is_not_sent() -> None:
    """The error names the check that failed, and nothing of the text."""
    schema = {"properties": {"name": {"pattern": "^a\u200b$"}}}
    entry = Entry(operation(), None, None, Validator({}), Validator(schema))  # type: ignore[arg-type]  # neither tool nor listing is looked at
    with pytest.raises(InvalidResult) as invalid:
        check_result(
            Permit(Grant(Principal(subject="key", agent="buyer"), entry)),
            Outcome({"name": "a\u200b"}, "mock"),
        )
    (violation,) = invalid.value.violations
    assert violation.detail == "breaks the output schema once hidden characters are removed"
