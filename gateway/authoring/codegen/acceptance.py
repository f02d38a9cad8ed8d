"""Checks of all tools, imported ones too: MCP clients accept them, and mapped fields are proved."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.codegen.ir import Contracts, ImportedContract
from gateway.authoring.codegen.render.bindings import binding_source, event_basis
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.lint.rules import BY_ID
from gateway.authoring.mapping import event_maps
from gateway.authoring.mapping.fields import Proof, prove, prove_requests
from gateway.contract.agent_view import SERVER
from gateway.contract.schemas.algebra import covers
from gateway.contract.values.schema import Validator, with_definitions
from gateway.profiles.clients import CLIENTS, PROFILES, ClientProfile
from gateway.profiles.inlining import inlined
from gateway.profiles.refusals import (
    ClientRefusal,
    ShownTool,
    published_output,
    refusals,
    short_names,
    widened_input,
)

# Checks that MCP clients accept the published schemas of all tools, imported ones included.

_IMPORT_FILE: Final = "import.yaml"
_PROFILES: Final = tuple(each for each in PROFILES.values() if not each.is_source)
_OBJECT: Final = {"type": "object"}


class _Published(Struct, frozen=True, kw_only=True):
    """A tool with the schemas of its contract."""

    path: PurePosixPath
    """Its contract, relative to the schemas folder."""
    id: str
    name: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    examples: tuple[Any, ...] = ()
    """Valid arguments."""
    is_imported: bool = False


def client_findings(contracts: Contracts, server: str = SERVER) -> Iterator[Finding]:
    """What clients would refuse of the published schemas, and schemas that are narrower.

    `server` is what users name the gateway in their clients.

    Calls are validated with the schemas of the contracts, so a narrower published schema would hide
    valid calls.
    """
    tools = list(_tools(contracts))
    names = {each.name for each in tools}
    rooms = {each.name: each.room(server) for each in _PROFILES}
    shorter = {name: short_names(names, room) for name, room in rooms.items() if room is not None}
    for tool in tools:
        for profile, schema in _inputs(inlined(tool.input_schema)):
            output = published_output(tool.output_schema, profile)
            name = shorter.get(profile.name, {}).get(tool.name, tool.name)
            shown = ShownTool(name=name, input_schema=schema, output_schema=output)
            yield from _refused(tool, refusals([shown], profile, server))
            yield from _narrower(tool, schema, profile)
    yield from _long_lists(contracts, tools)


def _inputs(whole: dict[str, Any]) -> Iterator[tuple[ClientProfile, dict[str, Any]]]:
    """The schema for each profile. Profiles that change the same share one."""
    made: dict[Any, dict[str, Any]] = {}
    for profile in _PROFILES:
        key = profile.changes
        if key not in made:
            made[key] = widened_input(whole, profile)
        yield profile, made[key]


def _refused(tool: _Published, reasons: Iterable[ClientRefusal]) -> Iterator[Finding]:
    found = {each.rule: each for each in reasons}
    for refused in found.values():
        message = f"{refused.client} refuses {tool.id}: {refused.message} ({refused.pointer})"
        yield _finding("client/refused", tool.path, message)


def _narrower(
    tool: _Published, schema: dict[str, Any], profile: ClientProfile
) -> Iterator[Finding]:
    """A finding if `schema` may refuse valid arguments."""
    # For a vendor's large schemas a proof can take minutes: scripts/bench/import.py --profiles.
    if tool.is_imported or schema == tool.input_schema:
        return
    is_covered = covers(schema, {"allOf": [tool.input_schema, _OBJECT]})
    if is_covered is None:
        gate = Validator(schema)
        is_covered = all(gate.admits(each) for each in tool.examples)
    if not is_covered:
        message = f"the schema of {tool.id} for {profile.name} refuses valid arguments"
        yield _finding("client/narrowed", tool.path, message)


def _long_lists(contracts: Contracts, tools: Iterable[_Published]) -> Iterator[Finding]:
    """A note for each agent with more tools than a client lists."""
    known = {each.id for each in tools}
    for agent, granted in sorted(contracts.policies.grants.items()):
        count = len(known.intersection(granted))
        for profile in CLIENTS:
            if profile.max_tools is not None and count > profile.max_tools:
                message = (
                    f"{agent} may call {amount(count, 'tool')}, and {profile.title} lists at most"
                    f" {profile.max_tools}"
                )
                yield _finding("client/long-list", contracts.policies.source.path, message)


def _tools(contracts: Contracts) -> Iterator[_Published]:
    for tool in contracts.tools:
        yield _Published(
            path=tool.source.path,
            id=tool.id,
            name=tool.mcp_name,
            input_schema=tool.written_input or tool.input_schema,
            output_schema=tool.output_schema,
            examples=tuple(each.value for each in tool.input_examples),
        )
    for each in contracts.imported:
        yield from _imported(each)


def _imported(contract: ImportedContract) -> Iterator[_Published]:
    path = PurePosixPath("upstreams", contract.connector, _IMPORT_FILE)
    definitions = contract.decoded_definitions()
    for operation in contract.operations:
        schema = with_definitions(operation.decoded_schema(), definitions)
        yield _Published(
            path=path,
            id=operation.id,
            name=f"{contract.connector}_{operation.tool}",
            input_schema=schema if isinstance(schema, dict) else _OBJECT,
            output_schema=operation.published_results(definitions),
            is_imported=True,
        )


def _finding(rule: str, path: PurePosixPath, message: str) -> Finding:
    known = BY_ID[rule]
    return Finding(
        path=str(path),
        line=1,
        pointer="",
        rule=rule,
        message=message,
        fix=known.fix,
        severity=known.severity,
    )


# Proofs of the mapped fields of all tools.


class ToolProof(Struct, frozen=True, kw_only=True):
    """A proof and its tool, or the event of a webhook."""

    operation: str
    proof: Proof


def proofs_of(contracts: Contracts) -> Iterator[ToolProof]:
    """The proof of every mapped field: of tools, their requests first, and of webhooks' events."""
    for tool in contracts.tools:
        upstream = contracts.upstream_of(tool)
        if upstream is not None:
            source = binding_source(tool, upstream)
            for proof in (*prove_requests(source), *prove(source)):
                yield ToolProof(operation=tool.id, proof=proof)
    for webhook in contracts.webhooks:
        for payload in webhook.payloads:
            basis = event_basis(webhook, payload, contracts)
            for proof in event_maps.prove(basis):
                yield ToolProof(operation=basis.name, proof=proof)
