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

from gateway.contract.imported import ImportedConnector
from gateway.contract.values.pointers import steps
from gateway.contracts.finding import ContractRefused, Finding, errors
from gateway.contracts.sources.tree import read_tree
from gateway.errors import ContractError
from gateway.lint import lint
from gateway.openapi.folder.importing import given_document, import_new
from gateway.openapi.folder.reading import ImportFolder, read_import
from gateway.openapi.lowering.selection import OperationSelection
from gateway.openapi.reading.source import read_source
from gateway.project.ejecting.ejection import EjectionWish, eject, problems_of
from gateway.project.ejecting.schemas import Definitions
from gateway.project.placing import place
from gateway.project.staging import Project, with_generated
from gateway.project.starting import OWN_PACKAGES, new_project

NAME: Final = "vendor"
_SHOWN: Final = 160
_FILE: Final = re.compile(rf"tools/{NAME}/([a-z0-9_]+)[.]")

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
        import_new(folder, given, OperationSelection(), dry_run=False)
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
    refused: Refusals = {}
    for each in connector.operations:
        found = problems_of(connector, each, omits_null=True)
        if messages := {problem.rule: problem.message for problem in found}:
            refused[each.tool] = messages
    while wanted := [each.tool for each in connector.operations if each.tool not in refused]:
        findings = _findings(project, wanted, is_generated=is_generated)
        if not findings:
            break
        for tool, finding in _blamed(connector, wanted, findings):
            refused.setdefault(tool, {})[finding.rule] = f"{tool}: {finding.message}"
    return _row(connector, refused)


def _findings(project: Project, tools: Sequence[str], *, is_generated: bool) -> tuple[Finding, ...]:
    """The errors of the lint if `tools` are ejected."""
    wish = EjectionWish(connector=NAME, tools=tuple(tools), upstream="own", omits_null=True)
    found = eject(project, read_tree(project.schemas), wish)
    if is_generated:
        try:
            with_generated(project, found.files, found.removed)
        except ContractRefused as refused:
            return refused.findings
        return ()
    before = {
        path: project.folder / path for path in found.files if (project.folder / path).is_file()
    }
    kept = {path: file.read_bytes() for path, file in before.items()}
    place(project.folder, found.files)
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
        if named := _FILE.match(finding.path):
            blamed = [named[1]]
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


def _row(connector: ImportedConnector, refused: Refusals) -> EjectionRow:
    examples: dict[str, str] = {}
    for messages in refused.values():
        for rule, message in messages.items():
            examples.setdefault(rule, message[:_SHOWN])
    return EjectionRow(
        served=len(connector.operations),
        ejected=len(connector.operations) - len(refused),
        refused=Counter(rule for messages in refused.values() for rule in messages),
        only=Counter(
            rule for messages in refused.values() if len(messages) == 1 for rule in messages
        ),
        examples=examples,
    )


if __name__ == "__main__":
    main()
