"""What a policy allows of a tool whose grants have conditions."""

from typing import Any

import pytest

from gateway.auth.authorize import Policy
from gateway.auth.principal import Grant, Principal
from gateway.catalogue import Entry, ToolListing
from gateway.contract.operation import Effect, Escalation, Tool
from gateway.contract.policies.grants import ArgumentGrant
from gateway.contract.values.schema import Validator
from gateway.errors import NotPermitted, UnknownOperation
from tests.unit.calls.shop import operation

INPUT = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "table": {"type": "string", "enum": ["clients", "quotes", "notes"]},
        "buy": {"type": "boolean", "default": False},
    },
}
SHOP = frozenset({"shop.buy", "shop.pay"})


def entry() -> Entry:
    escalation = Escalation(when="buy", grant="shop.pay")
    tool = Tool(
        operation="shop.buy",
        name="shop_buy",
        bare_name="buy",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=False,
    )
    listing = ToolListing(
        name="shop_buy",
        title="Find",
        description="Finds.",
        input_schema=INPUT,
        output_schema={},
        annotations={},
    )
    return Entry(operation(escalation=escalation), tool, listing, Validator(INPUT), Validator(True))


def only(tools: frozenset[str], **member: Any) -> ArgumentGrant:
    return ArgumentGrant(place="/agents/a/grants/0", tools=tools, arguments={"properties": member})


def refusal(policy: Policy, arguments: dict[str, Any], effect: Effect = Effect.READ) -> str | None:
    grant = Grant(Principal(subject="key", agent="a"), entry())
    try:
        policy.authorize_arguments(grant, arguments, effect)
    except NotPermitted as error:
        return "; ".join([error.detail or "", *(each.pointer for each in error.violations)])
    return None


def test_one_of_the_grants_of_an_agent_is_enough() -> None:
    buy = frozenset({"shop.buy"})
    conditions = [only(buy, table={"const": "quotes"}), only(buy, table={"const": "notes"})]
    policy = Policy({"a": buy}, {"a": conditions})

    assert refusal(policy, {"table": "quotes"}) is None
    assert refusal(policy, {"table": "notes"}) is None
    assert refusal(policy, {"table": "clients"}) == (
        "The grants of this key do not include this value of table.; /table; /table"
    )


def test_conditions_are_those_of_the_agent() -> None:
    buy = frozenset({"shop.buy"})
    policy = Policy({"a": buy, "b": buy}, {"b": [only(buy, table={"const": "quotes"})]})

    assert refusal(policy, {"table": "clients"}) is None
    shown = policy.shown("b", entry()).listing.input_schema
    assert shown["properties"]["table"]["enum"] == ["quotes"]


def test_a_condition_on_a_tool_does_not_let_another_tool_write_in_its_place() -> None:
    """The arguments of the other tool are other arguments: the condition cannot be checked."""
    free = Policy({"a": SHOP})
    narrowed = Policy({"a": SHOP}, {"a": [only(frozenset({"shop.pay"}), price={"maximum": 5})]})

    assert refusal(free, {"buy": True}, Effect.WRITE) is None
    assert "With buy, this tool writes" in str(refusal(narrowed, {"buy": True}, Effect.WRITE))
    assert refusal(narrowed, {"buy": False}) is None


@pytest.mark.parametrize("grants", [frozenset({"shop.buy"}), SHOP])
def test_a_list_shows_whether_the_caller_may_write(grants: frozenset[str]) -> None:
    shown = Policy({"a": grants}).shown("a", entry())

    buy = shown.listing.input_schema["properties"]["buy"]
    assert buy.get("const") == (None if "shop.pay" in grants else False)
    assert (shown.operation.escalation is None) is ("shop.pay" not in grants)


def test_what_is_not_granted_at_all_does_not_exist() -> None:
    policy = Policy({"a": frozenset()}, {})
    with pytest.raises(UnknownOperation):
        policy.authorize(Principal(subject="key", agent="a"), entry())
