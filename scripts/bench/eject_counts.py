"""Import DOCUMENT into a new project in FOLDER, and eject what can be ejected.

Prints one JSON object, a row of `eject.py`, which runs it in a process of its own.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec
from eject_figures import EjectionRow

from gateway.authoring.contracts.finding import ContractRefused, Finding, errors
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.authoring.openapi.folder import ImportFolder, read_import
from gateway.authoring.openapi.importing import given_document, import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.openapi.reading.source import read_source
from gateway.authoring.project.changes import place
from gateway.authoring.project.ejecting.ejection import EjectionWish, eject
from gateway.authoring.project.ejecting.forms import problems_of
from gateway.authoring.project.ejecting.results import Definitions
from gateway.authoring.project.staging import OWN_PACKAGES, Project, new_project, with_generated
from gateway.contract.imported import ImportedConnector
from gateway.contract.values.pointers import steps
from gateway.errors import ContractError

NAME: Final = "vendor"
_SHOWN: Final = 160
_BATCH: Final = 40
"""Operations that are ejected together. A contract file has at most 1 MiB."""
_FILE: Final = re.compile(rf"tools/{NAME}/([a-z0-9_]+)[.]")
_NAMED: Final = re.compile(rf"{NAME}[.]([a-z0-9_]+): ")

Refusals = dict[str, dict[str, str]]
"""By tool: messages by rule."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path, help="the document")
    parser.add_argument("folder", type=Path, help="a folder that does not exist")
    parser.add_argument("--generate", action="store_true", help="generate the package too")
    arguments = parser.parse_args()
    project = _project(arguments.folder)
    folder = ImportFolder(schemas=project.schemas, connector=NAME)
    try:
        given = given_document(read_source(arguments.document), arguments.document.name)
        place(project.schemas, import_new(folder, given, OperationSelection()).contents)
        connector = read_import(folder).connector
    except ContractError as error:
        row = EjectionRow(refusal=str(error)[:_SHOWN])
    else:
        row = _counted(project, connector, is_generated=arguments.generate)
    sys.stdout.buffer.write(msgspec.json.encode(row))


def _project(folder: Path) -> Project:
    release = version("contract-gateway")
    place(folder, new_project("bench", release))
    return Project(
        folder=folder,
        schemas=folder / "schemas",
        handler_packages=OWN_PACKAGES,
        version=release,
    )


def _counted(project: Project, connector: ImportedConnector, *, is_generated: bool) -> EjectionRow:
    unmapped: Refusals = {}
    for each in connector.operations:
        found = problems_of(connector, each, omits_null=False)
        if messages := {problem.rule: problem.message for problem in found}:
            unmapped[each.tool] = messages
    refused: Refusals = {}
    tools = [each.tool for each in connector.operations]
    for start in range(0, len(tools), _BATCH):
        refused |= _refused(
            project, connector, tools[start : start + _BATCH], is_generated=is_generated
        )
    return _row(connector, refused, unmapped)


def _refused(
    project: Project, connector: ImportedConnector, tools: Sequence[str], *, is_generated: bool
) -> Refusals:
    """Those of `tools` that cannot be ejected together with the others."""
    refused: Refusals = {}
    while wanted := [each for each in tools if each not in refused]:
        findings = _findings(project, wanted, is_generated=is_generated)
        if any(each.rule == "file/too-large" for each in findings) and len(wanted) > 1:
            half = len(wanted) // 2
            for part in (wanted[:half], wanted[half:]):
                refused |= _refused(project, connector, part, is_generated=is_generated)
            break
        if not findings:
            break
        for tool, finding in _blamed(connector, wanted, findings):
            refused.setdefault(tool, {})[finding.rule] = f"{tool}: {finding.message}"
    return refused


def _findings(project: Project, tools: Sequence[str], *, is_generated: bool) -> tuple[Finding, ...]:
    """What refuses the contract files of `tools`."""
    wish = EjectionWish(connector=NAME, tools=tuple(tools))
    try:
        found = eject(project, read_tree(project.schemas), wish)
        if is_generated:
            with_generated(project, found.files, found.removed)
            return ()
    except ContractRefused as refused:
        return refused.findings
    before = {path: project.folder / path for path in (*found.files, *found.removed)}
    kept = {path: file.read_bytes() for path, file in before.items() if file.is_file()}
    place(project.folder, found.files, found.removed)
    try:
        return errors(lint(read_tree(project.schemas), packages=OWN_PACKAGES))
    finally:
        place(project.folder, kept, [path for path in found.files if path not in kept])


def _blamed(
    connector: ImportedConnector, tools: Sequence[str], findings: Sequence[Finding]
) -> Iterator[tuple[str, Finding]]:
    """The tools whose contract files have the findings. Raises `ValueError` if there are none."""
    places = {(each.path, each.method.lower()): each.tool for each in connector.operations}
    users = _users(connector, tools)
    for finding in findings:
        parts = steps(finding.pointer)
        if named := _FILE.match(finding.path) or _NAMED.match(finding.message):
            blamed = [named[1]]
        elif len(tools) == 1:
            blamed = [*tools]
        elif parts[:1] == ["paths"]:
            blamed = [places[str(parts[1]), str(parts[2])]]
        else:
            blamed = users.get(str(parts[2]) if len(parts) > 2 else "", [])
        if not blamed:
            raise ValueError(str(finding))
        yield from ((tool, finding) for tool in blamed)


def _users(connector: ImportedConnector, tools: Sequence[str]) -> Mapping[str, list[str]]:
    """The tools that need each definition."""
    definitions = Definitions(connector.definitions)
    found: dict[str, list[str]] = {}
    for each in connector.operations:
        if each.tool in tools:
            schemas = [each.input_schema, *(reply.schema for reply in each.replies)]
            for name in definitions.needed({"allOf": schemas}):
                found.setdefault(name, []).append(each.tool)
    return found


def _row(connector: ImportedConnector, refused: Refusals, unmapped: Refusals) -> EjectionRow:
    served = {each.tool for each in connector.operations}
    examples: dict[str, str] = {}
    for messages in (*refused.values(), *unmapped.values()):
        for rule, message in messages.items():
            examples.setdefault(rule, message[:_SHOWN])
    return EjectionRow(
        served=len(served),
        ejected=len(served - refused.keys()),
        mapped=len(served - refused.keys() - unmapped.keys()),
        refused=Counter(rule for messages in refused.values() for rule in messages),
        unmapped=Counter(rule for messages in unmapped.values() for rule in messages),
        examples=examples,
    )


if __name__ == "__main__":
    main()
