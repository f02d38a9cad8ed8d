"""Checks of the names of resources and prompts, and of the files that they send."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from gateway.contract.offered import LARGEST
from gateway.contract.values.files import is_text
from gateway.contract.values.hidden import visible_text
from gateway.contract.values.nearest import did_you_mean
from gateway.contracts.finding import Finding
from gateway.contracts.offered import files_of
from gateway.contracts.sources.offered import OfferedSource
from gateway.contracts.sources.tree import TOOLS
from gateway.lint.draft import Draft
from gateway.lint.rules.all_rules import BY_ID


def check_names(draft: Draft) -> Iterator[Finding]:
    """offered/name"""
    connectors = {tool.connector for tool in draft.tree.tools} | draft.tree.imports
    for kind in (draft.tree.resources, draft.tree.prompts):
        names: dict[str, OfferedSource] = {}
        for each in kind:
            name = f"{each.connector}_{each.path.stem}"
            if draft.tree.has_unread(PurePosixPath(TOOLS, each.connector)):
                continue
            if each.connector not in connectors:
                message = f"there is no connector {each.connector}"
                yield draft.finding("offered/name", each.document, "", message)
            elif name in names:
                message = f"{names[name].path} is named {name} too"
                yield draft.finding("offered/name", each.document, "", message)
            names.setdefault(name, each)


def check_files(draft: Draft) -> Iterator[Finding]:
    """resource/file"""
    used: set[PurePosixPath] = set()
    for each in (*draft.resources, *draft.prompts):
        for pointer, name, mime_type in files_of(each.document.value):
            path = each.file(name)
            used.add(path)
            if draft.tree.is_unread(path):
                continue
            found = draft.tree.files.get(path)
            if found is None:
                known = [one.name for one in draft.tree.files if one.parent == path.parent]
                fix = did_you_mean(name, known)
                message = f"there is no file {path}"
                yield draft.finding("resource/file", each.document, pointer, message, fix)
            elif (why := _refusal(found, mime_type)) is not None:
                message = f"{path} {why}"
                yield draft.finding("resource/file", each.document, pointer, message)
    if not draft.misshapen:
        yield from _unused(draft, used)


def _refusal(content: bytes, mime_type: str) -> str | None:
    """Why a file cannot be sent. None if it can."""
    if len(content) > LARGEST:
        return f"is larger than {LARGEST} bytes"
    if not is_text(mime_type):
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        return f"is not valid UTF-8, at byte {error.start}"
    hidden = visible_text(text.replace("\r\n", "\n"))[1]
    return f"contains {hidden} invisible characters" if hidden else None


def _unused(draft: Draft, used: set[PurePosixPath]) -> Iterator[Finding]:
    rule = BY_ID["resource/file"]
    for path in draft.tree.files:
        if path not in used:
            yield Finding(
                path=str(path),
                line=1,
                pointer="",
                rule=rule.id,
                message="no contract beside its folder sends this file",
                fix="Name it under `file`, or delete it.",
            )
