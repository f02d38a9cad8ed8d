"""Takes operations out of the selection of an `import.yaml`."""

import re
from collections.abc import Collection, Sequence
from typing import Final

import msgspec
import yaml

from gateway.contract.imported import ImportedOperation
from gateway.contract.values.pointers import steps
from gateway.contracts.sources.yamlwriting import written
from gateway.errors import ConfigurationError
from gateway.openapi.folder.importfile import import_text
from gateway.openapi.folder.reading import ImportFolder, lower_import, read_document_of, read_import
from gateway.openapi.lowering.selection import ImportFile
from gateway.project.merging import with_entries, with_nested
from gateway.project.staging import read_text

_GLOB: Final = re.compile(r"[*?\[]")


def deselected(
    folder: ImportFolder, operations: Sequence[ImportedOperation], bound: Collection[str]
) -> bytes:
    """`import.yaml` that serves all but `operations`. Its comments stay where that is possible.

    `bound` are those that the contract files of tools will call.

    Raises `ConfigurationError` if they cannot be taken out alone.
    """
    old, _ = folder.wishes()
    new = [_GLOB.sub(r"[\g<0>]", _key(each)) for each in operations]
    exclude = (*old.select.exclude, *new)
    select = msgspec.structs.replace(old.select, exclude=exclude)
    wishes = msgspec.structs.replace(old, select=select)
    before = {each.id for each in read_import(folder).connector.operations}
    source = read_document_of(folder, wishes)
    outcome = lower_import(folder, source, wishes, None, bound)
    after = {each.id for each in outcome.connector.operations}
    if before - after != {each.id for each in operations} or after - before:
        raise ConfigurationError(
            "other tools would change with the operations; take them out of the selection in "
            "import.yaml by hand first"
        )
    text = read_text(folder.files / "import.yaml")
    return _edited(text, old, wishes, new).encode()


def _key(operation: ImportedOperation) -> str:
    """`GET /path` as the document has it. The path that is sent lacks a query and a fragment."""
    place = steps(operation.pointer)
    is_plain = len(place) == 3 and place[0] == "paths"
    return f"{operation.method} {place[1] if is_plain else operation.path}"


def _edited(text: str, old: ImportFile, wishes: ImportFile, new: Sequence[str]) -> str:
    entries = [f"- {written(each, width=1000).splitlines()[0]}" for each in new]
    try:
        if old.select.exclude:
            edited = with_nested(text, ("select", "exclude"), entries, "import.yaml")
        elif re.search(r"^select:", text, re.MULTILINE):
            lines = "\n".join(["exclude:", *(f"  {each}" for each in entries)])
            edited = with_nested(text, ("select",), [lines], "import.yaml")
        else:
            lines = "\n".join(["exclude:", *(f"  {each}" for each in entries)])
            edited = with_entries(text, "select", [lines], "import.yaml")
    except ConfigurationError:
        return import_text(wishes)
    return edited if _says(edited, wishes) else import_text(wishes)


def _says(text: str, wishes: ImportFile) -> bool:
    try:
        return msgspec.convert(yaml.safe_load(text), ImportFile) == wishes
    except (yaml.YAMLError, msgspec.ValidationError):
        return False
