"""Connectors of which nothing can be ejected."""

from pathlib import PurePosixPath

from gateway.contract.values.nearest import hint
from gateway.contracts.sources.tree import TOOLS, SourceTree, read_tree
from gateway.library import library_folder
from gateway.project.connectors import ready_connectors
from gateway.project.staging import Project


def why_no_import(project: Project, tree: SourceTree, connector: str) -> str:
    """Why nothing of `connector` can be ejected, and what to do instead."""
    written = [tool for tool in tree.tools if tool.connector == connector]
    if written:
        place = project.place_of(PurePosixPath(TOOLS, connector))
        code = "; to replace its Python code, name your own under x-binding"
        return (
            f"{connector} is not an import: its tools are contract files already, in {place}; edit"
            " them and run `gateway generate`, and `gateway add` leaves what you edited"
            f"{code if any('python' in tool.operation['x-binding'] for tool in written) else ''}"
        )
    ready = {each.name for each in ready_connectors(read_tree(library_folder() / "schemas"))}
    if connector in ready:
        return (
            f"{connector} is not an import; `gateway add {connector}` copies its contract files"
            " into the project, where you can edit them"
        )
    suggestion = hint(connector, tree.imports, "`gateway import` makes one")
    return f"there is no import {connector!r}; {suggestion}"
