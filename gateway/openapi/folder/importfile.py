"""Reads and writes `import.yaml`, which says what is served of a vendor's document."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
import yaml

from gateway.contract.operation import CallPolicy
from gateway.contract.outbound import url_refusal
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child, pointer_of
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.policies import is_auto_in_vain, limit_problems, policy_problems
from gateway.contracts.sources.document import Document, read_document
from gateway.contracts.sources.yamltext import written
from gateway.openapi.lowering.selection import ImportFile, OperationSelection

IMPORT_FILE: Final = "import.yaml"
OVERLAY_FILE: Final = "overlay.yaml"
RESERVED_FILES: Final = frozenset({IMPORT_FILE, OVERLAY_FILE})
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


def finding_at(document: Document, pointer: str, rule: str, message: str, fix: str) -> Finding:
    """A finding in `import.yaml`."""
    return Finding(
        path=str(document.path),
        line=document.line_of(pointer),
        pointer=pointer,
        rule=rule,
        message=message,
        fix=fix,
    )


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
