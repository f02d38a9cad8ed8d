"""Imported operations among the tools that authors wrote."""

import pytest
from msgspec.structs import replace

from gateway.authoring.codegen.imported import with_imported
from gateway.authoring.codegen.ir import Contracts, ContractSource, IndexContract, PolicyContract
from gateway.authoring.codegen.render.artifact import document
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.policies import written_grants
from gateway.contract.policies.limits import AgentLimits
from gateway.errors import ContractError

SOURCE = ContractSource(path="policies/agents.yaml", closure=(), sha256="")


INPUT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["size"],
    "properties": {"size": {"$ref": "#/$defs/Size"}},
}


def contracts(**grants):
    written = {agent: written_grants(agent, {"grants": each}) for agent, each in grants.items()}
    policies = PolicyContract(written=written, granted={}, source=SOURCE)
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
            "tags": ["public"] if effect == "read" else [],
            "input_schema": INPUT,
        }
        for tool, effect in tools.items()
    ]
    facts = {"connector": connector, "title": connector, "operations": operations}
    facts["definitions"] = {"Size": {"type": "integer"}}
    return document(f"imported/{connector}.json", facts)


def test_the_star_grants_all_that_destroy_nothing():
    found = with_imported(
        contracts(boss=("*",), agent=("a.drop",)),
        [record("a", get="read", put="write", drop="destroy")],
    )
    assert found.policies.grants == {"boss": ("a.get", "a.put"), "agent": ("a.drop",)}


def test_a_grant_of_no_tool_is_refused():
    with pytest.raises(ContractError, match=r"a\.got"):
        with_imported(contracts(agent=("a.got",)), [record("a", get="read")])


@pytest.mark.parametrize(
    ("grant", "ids"),
    [
        ("a.*", ("a.get", "a.put")),
        ({"tools": "*", "effects": ["destroy"]}, ("a.drop",)),
        ({"tools": "a.*", "tags": ["public"]}, ("a.get",)),
    ],
)
def test_conditions_know_the_tools_of_imports(grant, ids):
    found = with_imported(
        contracts(agent=(grant,)), [record("a", get="read", put="write", drop="destroy")]
    )
    assert found.policies.grants == {"agent": ids}


def test_a_condition_on_arguments_is_checked_against_the_imported_operation():
    made = record("a", get="read", put="write")
    grant = {"tools": "a.put", "arguments": {"properties": {"size": {"maximum": 5}}}}
    given = {"tools": "a.put", "arguments": {"properties": {"seize": {"maximum": 5}}}}

    found = with_imported(contracts(agent=(grant,)), [made])
    assert [each.tools for each in found.policies.granted["agent"].conditions] == [{"a.put"}]
    with pytest.raises(ContractRefused) as refused:
        with_imported(contracts(agent=(given,)), [made])
    (finding,) = refused.value.findings
    assert finding.message == "a.put has no argument seize"
    assert finding.pointer == "/agents/agent/grants/0/arguments/properties/seize"
    assert finding.fix == "Did you mean size?"


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
