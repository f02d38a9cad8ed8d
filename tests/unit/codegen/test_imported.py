"""Imported operations among the tools that authors wrote."""

import pytest
from msgspec.structs import replace

from gateway.codegen.imported import with_imported
from gateway.codegen.ir import Contracts, ContractSource, IndexContract, PolicyContract
from gateway.codegen.render.artifact import document
from gateway.contract.policies.limits import AgentLimits
from gateway.errors import ContractError

SOURCE = ContractSource(path="policies/agents.yaml", closure=(), sha256="")


def contracts(**grants):
    policies = PolicyContract(grants=grants, unrestricted=frozenset({"boss"}), source=SOURCE)
    index = IndexContract(document={}, source=SOURCE)
    return Contracts(index=index, common=(), tools=(), upstreams=(), policies=policies)


def record(connector, **tools):
    operations = [
        {
            "id": f"{connector}.{tool}",
            "tool": tool,
            "title": tool,
            "description": tool,
            "effect": effect,
            "input_schema": {"type": "object"},
        }
        for tool, effect in tools.items()
    ]
    facts = {"connector": connector, "title": connector, "operations": operations}
    return document(f"imported/{connector}.json", facts)


def test_the_star_grants_all_that_destroy_nothing():
    found = with_imported(
        contracts(boss=(), agent=("a.drop",)),
        [record("a", get="read", put="write", drop="destroy")],
    )
    assert found.policies.grants == {"boss": ("a.get", "a.put"), "agent": ("a.drop",)}


def test_a_grant_of_no_tool_is_refused():
    with pytest.raises(ContractError, match=r"a\.got"):
        with_imported(contracts(agent=("a.got",)), [record("a", get="read")])


def test_a_budget_that_pays_for_no_call_of_a_tool_is_refused():
    own = contracts(agent=("a.get",), other=("a.get",))
    limits = {"agent": AgentLimits(budget=4), "other": AgentLimits(budget=5)}
    own = replace(own, policies=replace(own.policies, limits=limits))
    made = record("a", get="read")
    text = made.content.decode().replace('"title"', '"limits": {"cost": 5}, "title"', 2)
    with pytest.raises(ContractError, match=r"a\.get costs 5, and the budget of agent .* is 4"):
        with_imported(own, [replace(made, text=text)])


def test_two_tools_with_the_same_mcp_name_are_refused():
    with pytest.raises(ContractError, match="a_b_c"):
        with_imported(contracts(), [record("a", b_c="read"), record("a_b", c="read")])
