"""What written grants are for the tools there are."""

from typing import Any

import pytest

from gateway.authoring.contracts.policies import GrantableTool, Granted, granted, written_grants
from gateway.contract.operation import Effect
from gateway.contract.policies.grants import ArgumentGrant

TOOLS = [
    GrantableTool(id="store.find", effect=Effect.READ, tags=("store", "public")),
    GrantableTool(id="store.order", effect=Effect.WRITE, tags=("store", "staff")),
    GrantableTool(id="store.forget", effect=Effect.DESTROY, tags=("store", "staff")),
    GrantableTool(id="stores.find", effect=Effect.READ, writes_if="reserve"),
]
OTHERS = ["prompts/store.ask"]
CHEAP = {"properties": {"price": {"maximum": 5}}}
NO_RESERVATION = {"properties": {"reserve": {"const": False}}}


def of(*grants: Any) -> Granted:
    return granted(written_grants("buyer", {"grants": [*grants]}), TOOLS, OTHERS)


@pytest.mark.parametrize(
    ("grant", "ids"),
    [
        ("store.forget", ["store.forget"]),
        ("*", ["prompts/store.ask", "store.find", "store.order", "stores.find"]),
        ("store.*", ["store.find", "store.order"]),
        ({"tools": "store.*"}, ["store.find", "store.order"]),
        ({"tools": ["stores.*", "store.order"]}, ["store.order", "stores.find"]),
        ({"tools": "*", "tags": ["staff"]}, ["store.order"]),
        ({"tools": "*", "tags": ["public", "staff"], "effects": ["read"]}, ["store.find"]),
        ({"tools": "store.*", "effects": ["destroy", "write"]}, ["store.forget", "store.order"]),
        ({"tools": "store.forget", "tags": ["public"]}, []),
        ({"tools": "store.forget", "effects": ["read"]}, []),
        ("gateway.events", ["gateway.events"]),
    ],
)
def test_a_grant_is_for_the_tools_that_it_names(grant: Any, ids: list[str]) -> None:
    found = of(grant)
    assert list(found.ids) == ids
    assert found.conditions == ()


def test_a_condition_is_kept_for_the_tools_of_its_grant() -> None:
    found = of({"tools": ["store.order", "stores.find"], "arguments": CHEAP}, "store.find")

    assert found.ids == ("store.find", "store.order", "stores.find")
    assert {(each.tools, each.place) for each in found.conditions} == {
        (frozenset({"store.order"}), "/agents/buyer/grants/0"),
        (frozenset({"stores.find"}), "/agents/buyer/grants/0"),
    }
    assert all(each.arguments == CHEAP for each in found.conditions)


def test_a_read_that_can_write_is_granted_without_the_argument_that_makes_it_write() -> None:
    found = of({"tools": "stores.find", "effects": ["read"]})
    (grant,) = found.conditions
    assert grant == ArgumentGrant(
        place="/agents/buyer/grants/0", tools=frozenset({"stores.find"}), arguments=NO_RESERVATION
    )
    both = of({"tools": "stores.find", "effects": ["read"], "arguments": CHEAP})
    assert both.conditions[0].arguments == {"allOf": [CHEAP, NO_RESERVATION]}
    assert of({"tools": "stores.find", "effects": ["read", "write"]}).conditions == ()


def test_a_grant_without_conditions_leaves_none() -> None:
    found = of({"tools": ["store.order", "stores.find"], "arguments": CHEAP}, "store.*")
    assert [each.tools for each in found.conditions] == [frozenset({"stores.find"})]
    assert found.conditional == {"stores.find"}
