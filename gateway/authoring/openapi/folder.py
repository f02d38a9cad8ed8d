"""The folder of an imported document, `schemas/upstreams/<connector>/`, and its `import.yaml`."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar

import msgspec
import yaml
from msgspec import Struct

from gateway.authoring.contracts import yamltext
from gateway.authoring.contracts.document import Document, finding_at, read_document
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.policies import is_auto_in_vain, limit_problems, policy_problems
from gateway.authoring.contracts.tree import SHAPES
from gateway.authoring.contracts.yamltext import written
from gateway.authoring.openapi.lowering.connector import lower_connector, lower_messages
from gateway.authoring.openapi.lowering.records import (
    DocumentView,
    ImportFile,
    ImportOutcome,
    OperationSelection,
    RefusedOperation,
    WrongSelection,
)
from gateway.authoring.openapi.lowering.selecting import FoundOperations, known_names
from gateway.authoring.openapi.lowering.webhooks import (
    InboundMessage,
    InboundMessages,
    RefusedMessage,
)
from gateway.authoring.openapi.overlay import apply_overlay
from gateway.authoring.openapi.reading.normalise import NormalDocument, normalise
from gateway.authoring.openapi.reading.source import DocumentRefused, SourceDocument, read_source
from gateway.contract.operation import CallPolicy
from gateway.contract.outbound import url_refusal
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child, pointer_of
from gateway.errors import ContractError

# Reads and writes `import.yaml`, which says what is served of a vendor's document.

IMPORT_FILE: Final = "import.yaml"
OVERLAY_FILE: Final = "overlay.yaml"
RESERVED_FILES: Final = frozenset({IMPORT_FILE, OVERLAY_FILE, SHAPES})
"""Names that the vendor's document cannot have, in upper or lower case."""
BASE_URL_FIX: Final = "write it like https://api.example.com/v1"
_MEMBERS: Final = ImportFile.__struct_fields__
_PARTS: Final = OperationSelection.__struct_fields__
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_TOOL: Final = re.compile(r"[a-z][a-z0-9_]*")
_URL: Final = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?")
_PLACE: Final = re.compile(r" - at `(key in )?\$([^`]*)`$")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_HEAD: Final = """\
# What is served of the vendor's document beside this file. The document itself stays untouched:
# change it with an OpenAPI Overlay, overlay.yaml. After a change: gateway generate
"""


def read_import_file(schemas: Path, path: PurePosixPath) -> tuple[ImportFile, Document]:
    """The file `path` under `schemas`, and its source. Raises `ContractRefused`."""
    document = read_document(schemas, path)
    if found := list(_unknown(document)):
        raise ContractRefused(found)
    try:
        wishes = msgspec.convert(document.value, ImportFile)
    except msgspec.ValidationError as error:
        raise ContractRefused([_misshapen(document, str(error))]) from None
    if found := list(_wrong(document, wishes)):
        raise ContractRefused(found)
    return wishes, document


def is_base_url(text: str) -> bool:
    """Whether `text` can be the URL that all paths of a document follow."""
    return _URL.fullmatch(text) is not None and url_refusal(text) is None


def why_no_base_url(text: str) -> str:
    """Why `text` is no base URL, after its name."""
    if not _URL.fullmatch(text):
        return "is not an HTTP URL"
    return f"cannot be used: {url_refusal(text)}"


def import_text(wishes: ImportFile) -> str:
    """The text of an `import.yaml` with these wishes."""
    value = msgspec.to_builtins(wishes)
    return f"{_HEAD}{written(value)}"


def updated_text(text: str, old: ImportFile, new: ImportFile) -> str:
    """`text`, which says `old`, so that it says `new`. Comments stay where that is possible, and
    the ends of lines always."""
    if "\r\n" in text:
        return updated_text(text.replace("\r\n", "\n"), old, new).replace("\n", "\r\n")
    edited = re.sub(rf"^(sha256: *){old.sha256}", rf"\g<1>{new.sha256}", text, flags=re.MULTILINE)
    edited = re.sub(
        rf"^(document: *){re.escape(old.document)}(?= *$)",
        lambda at: f"{at[1]}{new.document}",
        edited,
        flags=re.MULTILINE,
    )
    edited = _without_names(edited, old, new)
    added = {key: tool for key, tool in new.names.items() if key not in old.names}
    if added:
        block = "".join(f"  {line}\n" for line in written(added, width=1000).splitlines())
        if re.search(r"^names: *$", edited, re.MULTILINE):
            edited = re.sub(
                r"^names: *\n", lambda at: f"{at[0]}{block}", edited, flags=re.MULTILINE
            )
        else:
            edited = f"{edited.rstrip()}\nnames:\n{block}"
    return edited if _says(edited, new) else import_text(new)


def _without_names(text: str, old: ImportFile, new: ImportFile) -> str:
    """`text` without the lines of the names that `new` does not have."""
    for key in old.names.keys() - new.names.keys():
        entry = written({key: old.names[key]}, width=1000).strip()
        text = re.sub(rf"^ +{re.escape(entry)} *(?:#.*)?\n", "", text, flags=re.MULTILINE)
    return text if new.names else re.sub(r"^names: *\n", "", text, flags=re.MULTILINE)


def _says(text: str, wishes: ImportFile) -> bool:
    try:
        return msgspec.convert(yaml.safe_load(text), ImportFile) == wishes
    except (yaml.YAMLError, msgspec.ValidationError):
        return False


def _unknown(document: Document) -> Iterator[Finding]:
    value = document.value
    if not isinstance(value, dict):
        fix = "write the members document and sha256"
        yield finding_at(document, "", "import/malformed", "the file is not an object", fix)
        return
    select = value.get("select")
    known: tuple[tuple[str, Mapping[str, Any], tuple[str, ...]], ...] = (
        ("", value, _MEMBERS),
        ("/select", select if isinstance(select, dict) else {}, _PARTS),
    )
    for pointer, members, names in known:
        for name in members:
            if name not in names:
                message = f"there is no member {name!r}"
                fix = hint(name, names, f"the members are {', '.join(names)}")
                yield finding_at(
                    document, child(pointer, name), "import/unknown-member", message, fix
                )


def _misshapen(document: Document, message: str) -> Finding:
    place = _PLACE.search(message)
    pointer = ""
    if place is not None and not place[1]:
        steps = (name or index for name, index in _STEP.findall(place[2]))
        pointer = pointer_of(step for step in steps if step != "...")
    text = message[: place.start()] if place else message
    fix = "correct the value; see docs/how-to/import-an-api.md"
    return finding_at(document, pointer, "import/malformed", text[:1].lower() + text[1:], fix)


def _wrong(document: Document, wishes: ImportFile) -> Iterator[Finding]:
    if not _SHA256.fullmatch(wishes.sha256):
        message, fix = "sha256 is not a digest", "write the 64 digits that `gateway import` wrote"
        yield finding_at(document, "/sha256", "import/sha256", message, fix)
    name = wishes.document
    if not name or name.startswith(".") or "/" in name or "\\" in name or not name.isprintable():
        message, fix = "document is not the name of a file", "name the file beside import.yaml"
        yield finding_at(document, "/document", "import/document", message, fix)
    if name.lower() in RESERVED_FILES:
        message, fix = f"{name} cannot be the vendor's document", "rename the document"
        yield finding_at(document, "/document", "import/document", message, fix)
    steps = wishes.entry.split("/") if wishes.entry is not None else ["entry"]
    if any(each in {"", ".", ".."} or "\\" in each or not each.isprintable() for each in steps):
        message, fix = "entry is no path in the folder", "write it like apis/openapi.yaml"
        yield finding_at(document, "/entry", "import/document", message, fix)
    if wishes.base_url is not None and not is_base_url(wishes.base_url):
        message = f"base_url {why_no_base_url(wishes.base_url)}"
        yield finding_at(document, "/base_url", "import/base-url", message, BASE_URL_FIX)
    for key, tool in wishes.names.items():
        if not _TOOL.fullmatch(tool):
            message = f"{tool!r} is not the name of a tool"
            fix = "begin with a letter, and use lower-case letters, digits and _"
            yield finding_at(document, child("/names", key), "import/name", message, fix)
    yield from _wrong_limits(document, wishes)
    yield from _wrong_policies(document, wishes)


def _wrong_limits(document: Document, wishes: ImportFile) -> Iterator[Finding]:
    """Limits of tools that are not those that contracts may have."""
    given = {child("/tool_limits", key): each for key, each in wishes.tool_limits.items()}
    if wishes.limits is not None:
        given["/limits"] = wishes.limits
    for pointer, limits in given.items():
        for place, message, fix in limit_problems(limits):
            yield finding_at(document, f"{pointer}{place}", "import/limits", message, fix)


def _wrong_policies(document: Document, wishes: ImportFile) -> Iterator[Finding]:
    """Policies of tools that contracts could not have."""
    given = {child("/tool_policies", key): each for key, each in wishes.tool_policies.items()}
    for pointer, policy in {"/policy": wishes.policy, **given}.items():
        found = list(policy_problems(policy))
        for place, message, fix in found:
            yield finding_at(document, f"{pointer}{place}", "import/policy", message, fix)
        whole = {"timeoutSeconds": CallPolicy().timeout_seconds, **wishes.policy, **policy}
        if not found and is_auto_in_vain(whole.get("task", "never"), whole["timeoutSeconds"]):
            message, fix = "no call takes so long that it becomes a job", "raise timeoutSeconds"
            yield finding_at(document, pointer, "import/policy", message, fix)


def file_name(path: str, suffix: str) -> str:
    """A safe name for the vendor's file. `suffix` is that of a file without one."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(path).name).lstrip(".-") or "openapi"
    if name.lower() in RESERVED_FILES:
        return f"openapi-{name}"
    return name if "." in name else f"{name}{suffix}"


# Reads the folder of an imported document, `schemas/upstreams/<connector>/`.

_TOOLS: Final = "tools"
_WORD: Final = b"x-binding"


def bound_names(schemas: Path, connector: str) -> frozenset[str]:
    """The operations of the import `connector` that the contract files of tools name.

    A file that cannot be read names none: the lint reports it.
    """
    found = (_binding(path, connector) for path in (schemas / _TOOLS).glob("*/*.yaml"))
    return frozenset(name for each in found for name in _named(each, connector))


def _binding(path: Path, connector: str) -> Any:
    """`x-binding` of the file. Most files name another upstream, and are not parsed."""
    try:
        raw = path.read_bytes()
        if _WORD not in raw or connector.encode() not in raw:
            return None
        value = yamltext.decode(raw.decode())
    except (OSError, UnicodeDecodeError, yamltext.YamlRefused):
        return None
    operation = value.get("post") if isinstance(value, dict) else None
    return operation.get("x-binding") if isinstance(operation, dict) else None


def _named(binding: Any, connector: str) -> Iterator[str]:
    if isinstance(binding, dict) and binding.get("upstream") == connector:
        name = binding.get("operationId")
        if isinstance(name, str):
            yield name


UPSTREAMS: Final = "upstreams"
MAX_CONNECTOR: Final = 30
CONNECTOR_FIX: Final = (
    f"begin with a letter, and use at most {MAX_CONNECTOR} lower-case letters, digits and _"
)
_CONNECTOR: Final = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_CONNECTOR - 1}}}")


class ImportFolder(Struct, frozen=True, kw_only=True):
    """The folder of one imported document."""

    schemas: Path
    connector: str
    new_overlay: Path | None = None
    """The file of the overlay that a new import gets. None: there is that of the folder, or none.
    """

    @property
    def path(self) -> PurePosixPath:
        """Relative to the schemas folder."""
        return PurePosixPath(UPSTREAMS, self.connector)

    @property
    def files(self) -> Path:
        return self.schemas / self.path

    def bound(self) -> frozenset[str]:
        """The names of the operations that tools with contract files call."""
        return bound_names(self.schemas, self.connector)

    def wishes(self) -> tuple[ImportFile, Document]:
        """The content of `import.yaml`. Raises `ContractRefused`."""
        return read_import_file(self.schemas, self.path / IMPORT_FILE)

    def overlay(self) -> Document | None:
        """The overlay, if there is one. Raises `ContractRefused`."""
        if self.new_overlay is not None:
            place = os.path.relpath(self.new_overlay, self.schemas)
            return read_document(self.schemas, PurePosixPath(Path(place).as_posix()))
        if not (self.files / OVERLAY_FILE).exists():
            return None
        return read_document(self.schemas, self.path / OVERLAY_FILE)

    def overlay_text(self) -> bytes | None:
        """The text of `overlay.yaml` for the overlay that a new import gets.

        Raises `ContractRefused`.
        """
        overlay = self.overlay()
        if self.new_overlay is None or overlay is None:
            return None
        is_json = self.new_overlay.suffix == ".json"
        return written(overlay.value).encode() if is_json else self.new_overlay.read_bytes()


def is_connector(name: str) -> bool:
    """Whether `name` can be the name of an imported connector."""
    return _CONNECTOR.fullmatch(name) is not None


def import_folders(schemas: Path) -> tuple[ImportFolder, ...]:
    """The folders with an `import.yaml`, sorted by connector.

    Raises `ContractRefused` if the name of a folder cannot be the name of a connector.
    """
    found = sorted((schemas / UPSTREAMS).glob(f"*/{IMPORT_FILE}"))
    names = [each.parent.name for each in found if not each.parent.name.startswith(".")]
    if wrong := [_wrong_name(name) for name in names if not is_connector(name)]:
        raise ContractRefused(wrong)
    return tuple(ImportFolder(schemas=schemas, connector=name) for name in names)


def _wrong_name(name: str) -> Finding:
    return Finding(
        path=str(PurePosixPath(UPSTREAMS, name, IMPORT_FILE)),
        line=1,
        pointer="",
        rule="import/connector",
        message=f"{name!r} cannot be the name of a connector",
        fix=f"rename the folder: {CONNECTOR_FIX}",
    )


def read_import(folder: ImportFolder) -> ImportOutcome:
    """What is served of the document in `folder`.

    Raises `ContractRefused` if a file cannot be used, or if the document is not the pinned one.
    """
    wishes, text = folder.wishes()
    document = folder.files / wishes.document
    found = digest_of(document)
    if found != wishes.sha256:
        again = f"--as {folder.connector} --update"
        if found is None:
            message, fix = f"{wishes.document} is missing", f"gateway import DOCUMENT {again}"
        else:
            message = f"{wishes.document} was changed"
            fix = (
                "restore it and write the change to overlay.yaml, or accept it:"
                f" gateway import {document.as_posix()} {again}"
            )
        raise ContractRefused([finding_at(text, "/sha256", "import/sha256", message, fix)])
    return lower_import(folder, read_document_of(folder, wishes), wishes, text)


def read_document_of(folder: ImportFolder, wishes: ImportFile) -> SourceDocument:
    """The vendor's document in `folder`. Findings have the path of `folder`."""
    path = folder.files / wishes.document
    try:
        return read_source(path / (wishes.entry or ""), root=path if wishes.entry else None)
    except DocumentRefused as refused:
        raise DocumentRefused(_inside(folder.path / path.name, refused.findings)) from None


def served_document(folder: ImportFolder) -> NormalDocument:
    """The vendor's document with the overlay, in the normal form. Raises `ContractError`."""
    wishes, _ = folder.wishes()
    source, _ = _overlaid(folder, read_document_of(folder, wishes))
    return normalise(source)


def unmatched_targets(folder: ImportFolder) -> tuple[Finding, ...]:
    """A note for each target of the overlay that matches nothing. Raises `ContractError`."""
    if not (folder.files / OVERLAY_FILE).exists():
        return ()
    wishes, _ = folder.wishes()
    _, notes = _overlaid(folder, read_document_of(folder, wishes))
    return tuple(notes)


def operation_names(folder: ImportFolder, source: SourceDocument) -> frozenset[str]:
    """The names by which `import.yaml` may name operations of `source` with the overlay.

    Raises `ContractError`.
    """
    source, _ = _overlaid(folder, source)
    return known_names(FoundOperations(DocumentView(normalise(source))).operations)


def tags_of(folder: ImportFolder, source: SourceDocument) -> tuple[dict[str, int], int]:
    """The number of operations by tag, and of operations without a tag, with the overlay.

    Raises `ContractError`.
    """
    source, _ = _overlaid(folder, source)
    operations = FoundOperations(DocumentView(normalise(source))).operations
    counts = Counter(tag for each in operations for tag in dict.fromkeys(each.tags))
    return dict(counts), sum(not each.tags for each in operations)


def lower_import(
    folder: ImportFolder,
    source: SourceDocument,
    wishes: ImportFile,
    text: Document | None,
    bound: Collection[str] = (),
) -> ImportOutcome:
    """What is served of `source` with `wishes` and the overlay of `folder`.

    `text` is the source of `wishes`, for the lines in errors. `bound` are operations that tools
    with contract files will call, besides those that they call. Raises `ContractError`.
    """
    source, notes = _overlaid(folder, source)
    place = folder.path / wishes.document
    called = {*folder.bound(), *bound}
    try:
        outcome = lower_connector(normalise(source), folder.connector, wishes, called)
    except WrongSelection as wrong:
        raise _refused(text, wrong) from None
    except DocumentRefused as refused:
        raise DocumentRefused(_inside(place, refused.findings)) from None
    return _placed(place, outcome, notes)


def inbound_messages(
    folder: ImportFolder, source: SourceDocument, wishes: ImportFile
) -> InboundMessages:
    """What the vendor of `source` sends, with the overlay of `folder`. Raises `ContractError`."""
    source, _ = _overlaid(folder, source)
    place = folder.path / wishes.document
    try:
        found = lower_messages(normalise(source), wishes)
    except WrongSelection as wrong:
        raise _refused(None, wrong) from None
    except DocumentRefused as refused:
        raise DocumentRefused(_inside(place, refused.findings)) from None
    return InboundMessages(
        read=tuple(_with_place(place, each) for each in found.read),
        refused=tuple(_with_place(place, each) for each in found.refused),
    )


_M = TypeVar("_M", InboundMessage, RefusedMessage, RefusedOperation)


def _with_place(place: PurePosixPath, each: _M) -> _M:
    """`each` with the path of the stored file."""
    return msgspec.structs.replace(each, finding=_inside(place, [each.finding])[0])


def _overlaid(
    folder: ImportFolder, source: SourceDocument
) -> tuple[SourceDocument, tuple[Finding, ...]]:
    """`source` with the overlay of `folder`, and the notes on the overlay."""
    overlay = folder.overlay()
    if overlay is None:
        return source, ()
    overlaid = apply_overlay(overlay, source.value)
    return source.replaced(overlaid.value), overlaid.notes


def digest_of(path: Path) -> str | None:
    """The SHA-256 digest of a file, or of the names and digests of all files of a folder.

    None if there is nothing at `path`.
    """
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else []
    return digest_of_files({each.relative_to(path).as_posix(): each.read_bytes() for each in files})


def digest_of_files(files: dict[str, bytes]) -> str | None:
    """The digest of a folder with these files, by relative path. None if there are none."""
    if not files:
        return None
    lines = (f"{hashlib.sha256(files[name]).hexdigest()} {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _refused(text: Document | None, wrong: WrongSelection) -> ContractError:
    """The error for a selection in `text`. Without `text`, it was given with the command."""
    if text is None:
        return ContractError(f"{wrong.message}; {wrong.fix}")
    finding = finding_at(text, wrong.pointer, "import/selection", wrong.message, wrong.fix)
    return ContractRefused([finding])


def _placed(
    place: PurePosixPath, outcome: ImportOutcome, notes: tuple[Finding, ...]
) -> ImportOutcome:
    """`outcome` with paths relative to the schemas folder, and with `notes` on the overlay."""
    report = outcome.report
    refused = tuple(_with_place(place, each) for each in report.refused)
    all_notes = (*notes, *_inside(place, report.notes))
    report = msgspec.structs.replace(report, refused=refused, notes=all_notes)
    return msgspec.structs.replace(outcome, report=report)


def _inside(place: PurePosixPath, findings: Iterable[Finding]) -> list[Finding]:
    """`findings` with the paths of the stored files. `place` is the stored document."""
    is_file = "." in place.name
    return [
        msgspec.structs.replace(each, path=str(place if is_file else place / each.path))
        for each in findings
    ]
