"""Renders `imported/<connector>.json`: the operations of imported OpenAPI documents."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from gateway.authoring.codegen.ir import (
    Contracts,
    ImportedContract,
    ImportedTool,
    PolicyContract,
    ToolContract,
)
from gateway.authoring.codegen.render.artifact import Artifact
from gateway.authoring.contracts.cache import Remember
from gateway.authoring.contracts.finding import ContractRefused, Finding, errors
from gateway.authoring.contracts.policies import granted
from gateway.authoring.lint.grants import KnownTools, grant_problems
from gateway.authoring.lint.rules import BY_ID
from gateway.authoring.openapi.folder import (
    ImportFolder,
    import_folders,
    read_import,
    unmatched_targets,
)
from gateway.authoring.openapi.importing import RESERVED, refuse_nothing
from gateway.contract.credentials import SCOPES
from gateway.contract.imported import ImportedConnector
from gateway.contract.offered import PROMPTS
from gateway.contract.operation import Effect
from gateway.contract.values.nearest import hint
from gateway.contract.values.schema import with_definitions
from gateway.errors import ContractError

_UNKNOWN_FIX: Final = (
    "write the name that the import gives it; `gateway import --check` says what cannot be served"
)


def imported_records(
    schemas: Path, remember: Remember, progress: Callable[[str], None]
) -> Iterator[Artifact]:
    """The record of each import under `schemas`.

    Raises `ContractRefused` if an import cannot be used, and `ContractError` if its name is
    reserved.
    """
    for folder in import_folders(schemas):
        if folder.connector in RESERVED:
            raise ContractError(
                f"{folder.files}: a connector cannot be named {folder.connector}: grants such as"
                " gateway.operate begin with it; rename the folder"
            )
        progress(f"lowering {folder.path}")
        path = PurePosixPath("imported", f"{folder.connector}.json")
        text = remember("imported", _basis(folder), partial(_text, folder))
        yield Artifact("generated", path, text.encode())


def overlay_notes(schemas: Path, remember: Remember) -> tuple[Finding, ...]:
    """A note for each target of an overlay that matches nothing: that change was not made.

    Raises `ContractError`.
    """
    found: list[Finding] = []
    for folder in import_folders(schemas):
        text = remember("unmatched", _basis(folder), partial(_unmatched, folder))
        found += msgspec.json.decode(text, type=list[Finding])
    return tuple(found)


def with_imported(contracts: Contracts, records: Iterable[Artifact]) -> Contracts:
    """`contracts` with the imported documents, and with the grants of their operations.

    Raises `ContractRefused` for a grant that cannot be honoured.
    """
    texts = (each.text for each in records)
    imported = tuple(msgspec.json.decode(text, type=ImportedContract) for text in texts)
    _refuse_taken_names(contracts, imported)
    tools = tuple(_bound(tool, imported) for tool in contracts.tools)
    operations = [operation for each in imported for operation in each.operations]
    known = {each.id for each in operations} | {each.id for each in contracts.tools}
    for each in sorted(contracts.offered.tools - known):
        raise ContractError(
            f"{PROMPTS}/: a prompt names {each!r}, and there is no such tool; correct the name"
        )
    policies = _granted(contracts, imported)
    _refuse_costs(policies, operations)
    return replace(contracts, tools=tools, policies=policies, imported=imported)


def _granted(contracts: Contracts, imported: Iterable[ImportedContract]) -> PolicyContract:
    """The policies, with what they grant of the imported documents. Raises `ContractRefused`."""
    policies = contracts.policies
    tools = {each.id: each.grantable for each in contracts.tools}
    tools |= {each.id: each.grantable for one in imported for each in one.operations}
    every, others = tuple(tools.values()), contracts.offered.grants
    schemas = _InputSchemas(contracts, imported)
    known = KnownTools(tools=tools, others={*SCOPES, *others}, input_of=schemas.of)
    _refuse_grants(policies, known)
    return replace(
        policies,
        granted={agent: granted(each, every, others) for agent, each in policies.written.items()},
    )


def _refuse_grants(policies: PolicyContract, known: KnownTools) -> None:
    """Raise `ContractRefused` for grants that cannot be honoured."""
    found = [
        Finding(
            path=str(policies.source.path),
            line=each.line,
            pointer=each.place,
            rule=each.rule,
            message=each.message,
            fix=each.fix or BY_ID[each.rule].fix,
            severity=BY_ID[each.rule].severity,
        )
        for grants in policies.written.values()
        for each in grant_problems(grants, grants, known)
    ]
    if refused := errors(found):
        raise ContractRefused(refused)


class _InputSchemas:
    """The input schemas of all tools. Definitions are decoded once for each document."""

    def __init__(self, contracts: Contracts, imported: Iterable[ImportedContract]) -> None:
        self._written = {each.id: each.input_schema for each in contracts.tools}
        self._imported = {
            operation.id: (operation, each) for each in imported for operation in each.operations
        }
        self._definitions: dict[str, dict[str, Any]] = {}

    def of(self, tool_id: str) -> Mapping[str, Any]:
        """The schema of a tool, with the definitions that it refers to."""
        if tool_id in self._written:
            return self._written[tool_id]
        operation, contract = self._imported[tool_id]
        if contract.connector not in self._definitions:
            self._definitions[contract.connector] = contract.decoded_definitions()
        definitions = self._definitions[contract.connector]
        schema = with_definitions(operation.decoded_schema(), definitions)
        return schema if isinstance(schema, dict) else {}


def _refuse_costs(policies: PolicyContract, operations: Iterable[ImportedTool]) -> None:
    """Raise `ContractError` if the budget of an agent does not pay for one call of a tool."""
    budgets = {agent: each.budget for agent, each in policies.limits.items() if each.budget}
    grants = {agent: frozenset(policies.granted[agent].ids) for agent in budgets}
    for operation in operations:
        cost = operation.limits.cost if operation.limits else 1
        for agent, budget in budgets.items():
            if cost > budget and operation.id in grants[agent]:
                raise ContractError(
                    f"{policies.source.path}: one call of {operation.id} costs {cost}, and the"
                    f" budget of {agent} for a day is {budget}; raise the budget, lower the cost in"
                    " import.yaml, or remove the grant"
                )


def _bound(tool: ToolContract, imported: Iterable[ImportedContract]) -> ToolContract:
    """`tool`, with what it has of the operation of an import that it calls.

    Raises `ContractError` if that does not exist or cannot be called.
    """
    name, operation_id = (tool.x_binding.get(each) for each in ("upstream", "operationId"))
    contract = next((each for each in imported if each.connector == name), None)
    if contract is None:
        return tool
    known = {each.tool: each for each in (*contract.operations, *contract.bound)}
    found = known.get(operation_id or "")
    if found is None:
        raise ContractError(
            f"{tool.source.path}: the import {name} has no operation {operation_id!r} that can be"
            f" called; {hint(operation_id or '', known, _UNKNOWN_FIX)}"
        )
    return replace(
        tool,
        file_types=found.file_types,
        has_members=found.selects_fields or found.effect is not Effect.READ,
        sensitive=tuple(sorted({*tool.sensitive, *found.sensitive})),
    )


def _refuse_taken_names(contracts: Contracts, imported: Iterable[ImportedContract]) -> None:
    """Raise `ContractError` if two tools have the same id, or the same MCP name, such as `a.b_c`
    and `a_b.c`."""
    owners = {name: each.id for each in contracts.tools for name in (each.mcp_name, *each.aliases)}
    written = {each.id for each in contracts.tools}
    for each in imported:
        for operation in each.operations:
            if operation.id in written:
                raise ContractError(
                    f"{operation.id} is in tools/{each.connector} and in the import"
                    f" {each.connector}; exclude it in import.yaml, or delete its contract"
                )
            name = f"{each.connector}_{operation.tool}"
            owner = owners.setdefault(name, operation.id)
            if owner != operation.id:
                raise ContractError(
                    f"{owner} and {operation.id} have the same MCP name {name}; give one of them"
                    " another name under `names` in import.yaml"
                )


def record_text(connector: ImportedConnector) -> str:
    """The text of `imported/<connector>.json`: sorted, so that it is the same on each run.

    Each operation and each definition has a line of its own, so that a difference names it, and so
    that the text is not larger than needed: a running gateway keeps it in memory.
    """
    members = msgspec.structs.asdict(connector)
    encode = msgspec.json.Encoder(order="sorted").encode
    for name in ("operations", "bound"):
        lines = b",\n".join(encode(each) for each in members[name])
        members[name] = msgspec.Raw(b"[\n%s\n]" % lines)
    if not connector.bound:
        del members["bound"]
    definitions = b",\n".join(
        b"%s:%s" % (encode(name), encode(schema))
        for name, schema in sorted(connector.definitions.items())
    )
    members["definitions"] = msgspec.Raw(b"{\n%s\n}" % definitions)
    pairs = (b"%s:%s" % (encode(name), encode(members[name])) for name in sorted(members))
    return (b"{\n%s\n}\n" % b",\n".join(pairs)).decode()


def _text(folder: ImportFolder) -> str:
    outcome = read_import(folder)
    refuse_nothing(outcome)
    return record_text(outcome.connector)


def _unmatched(folder: ImportFolder) -> str:
    return msgspec.json.encode(unmatched_targets(folder)).decode()


def _basis(folder: ImportFolder) -> str:
    """The digests of all files of `folder`, its name, and the operations that tools call."""
    files = sorted(path for path in folder.files.rglob("*") if path.is_file())
    lines = (
        f"{path.relative_to(folder.files)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in files
    )
    return "\n".join([folder.connector, *sorted(folder.bound()), *lines])
