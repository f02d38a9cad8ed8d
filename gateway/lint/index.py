"""Checks that every file has the right path, is listed in the index, and is used."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.values.pointers import child, steps
from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.refs import resolve
from gateway.contracts.sources.tree import ENTITIES, POLICIES, PROMPTS, RESOURCES
from gateway.lint.draft import Draft, is_table
from gateway.lint.rules.all_rules import BY_ID
from gateway.project_folder import INDEX

_NAME: Final = "[a-z][a-z0-9_]*"
_PLACES: Final = re.compile(
    rf"""
      openapi\.yaml
    | policies/agents\.yaml
    | common/{_NAME}\.json
    | tools/{_NAME}/{_NAME}\.(?:yaml|input\.json|output\.json)
    | upstreams/{_NAME}/openapi\.yaml
    | upstreams/{_NAME}/tables/{_NAME}\.json
    | webhooks/{_NAME}/webhook\.yaml
    | webhooks/{_NAME}/{_NAME}\.payload\.json
    | (?:resources|prompts)/{_NAME}/{_NAME}\.yaml
    | entities/{_NAME}\.json
    | events/{_NAME}\.{_NAME}\.v[1-9][0-9]*\.(?:yaml|json)
    """,
    re.VERBOSE,
)
_OF_THE_GATEWAY: Final = ("common/content.json", "common/problem.json", "common/receipt.json")
"""The content blocks of MCP, and the bodies of the gateway's own responses. A project has them
before a contract needs them."""
_LISTS: Final = ("x-entities", "x-upstreams", "x-policies")


_MEMBERS: Final = {"paths": "a tool or a webhook", "webhooks": "an event"}
"""Members of the index that name a file per entry, and what those files are."""


def check_presence(draft: Draft) -> Iterator[Finding]:
    """index/missing"""
    broken = {finding.path for finding in draft.tree.findings}
    rule = BY_ID["index/missing"]
    for path in (INDEX, POLICIES):
        if draft.tree.find(path) is None and str(path) not in broken:
            yield Finding(
                path=str(path),
                line=1,
                pointer="",
                rule=rule.id,
                message="this file is missing",
                fix=rule.fix,
            )


def check_places(draft: Draft) -> Iterator[Finding]:
    """index/misplaced"""
    for path, document in draft.tree.documents.items():
        if not _PLACES.fullmatch(str(path)):
            message = "no kind of contract has this path"
            fix = (
                "Use openapi.yaml, policies/agents.yaml, common/<name>.json, "
                "tools/<connector>/<tool>.yaml with .input.json and .output.json, "
                "upstreams/<name>/openapi.yaml, upstreams/<name>/tables/<table>.json, "
                "webhooks/<provider>/webhook.yaml with <event>.payload.json, "
                "resources/<connector>/<name>.yaml and prompts/<connector>/<name>.yaml with "
                "files/<file> beside them, entities/<kind>.json or "
                "events/<entity>.<verb>.v<n>.yaml with .json; "
                "names are lower_snake_case."
            )
            yield draft.finding("index/misplaced", document, "", message, fix)


def check_paths(draft: Draft) -> Iterator[Finding]:
    """index/wrong-path, index/wrong-file"""
    index = draft.index
    if index is None:
        return
    for member, kind in _MEMBERS.items():
        for name, reference in index.value.get(member, {}).items():
            pointer = child(child("", member), name)
            target = draft.target(index, pointer, reference)
            if target is None:
                continue
            found = target.document.path
            wanted = None if target.pointer else _listed_as(found)
            if wanted is None or wanted[0] != member:
                message = f"{name} does not refer to {kind}"
                yield draft.finding("index/wrong-file", index, pointer, message)
            elif name != wanted[1]:
                message = f"{name} is not the name of {found}"
                fix = f"Write {wanted[1]}."
                yield draft.finding("index/wrong-path", index, pointer, message, fix)


def _listed_as(path: PurePosixPath) -> tuple[str, str] | None:
    """The member of the index that must list the file `path`, and the file's name in it."""
    match path.parts:
        case ("tools", connector, _) if path.suffix == ".yaml":
            return "paths", f"/v1/{connector}/{path.stem}"
        case ("webhooks", provider, "webhook.yaml"):
            return "paths", f"/webhooks/{provider}"
        case ("events", _) if path.suffix == ".yaml":
            return "webhooks", f"gateway.{path.stem}"
        case _:
            return None


def check_lists(draft: Draft) -> Iterator[Finding]:
    """ref/*, index/wrong-file"""
    index = draft.index
    for pointer, holder in _listed_in(index) if index else ():
        folder = steps(pointer)[0].removeprefix("x-")
        yield from _listed(draft, pointer, holder["$ref"], folder)


def _listed(draft: Draft, pointer: str, ref: str, folder: str) -> Iterator[Finding]:
    index = draft.tree.documents[INDEX]
    try:
        path = resolve(draft.tree, INDEX, ref, pointer).document.path
    except ContractRefused as refused:
        yield from refused.findings
        return
    if path.parts[0] != folder:
        message = f"{path} is not in the folder {folder}/"
        yield draft.finding("index/wrong-file", index, pointer, message)


def check_unused(draft: Draft) -> Iterator[Finding]:
    """index/unlisted, index/unreferenced"""
    index = draft.index
    if index is None:
        return
    used = _used(draft, index)
    is_known = not draft.tree.findings and not draft.misshapen and not any(_dangling(draft))
    listed = {each.path for each in _documents(draft, index, _listed_in(index))}
    for path, document in draft.tree.documents.items():
        is_used = path in (listed if path.parts[0] == ENTITIES else used)
        if is_used or document.declared or _needs_no_listing(path):
            continue
        if path.suffix == ".yaml" or path.parts[0] == ENTITIES:
            message, fix = "openapi.yaml does not list this file", _listing(path)
            yield draft.finding("index/unlisted", document, "", message, fix)
        elif is_known and not _belongs_to_unlisted(draft, path, used):
            message = "no contract refers to this file"
            yield draft.finding("index/unreferenced", document, "", message)


def _needs_no_listing(path: PurePosixPath) -> bool:
    return path.parts[0] in {RESOURCES, PROMPTS} or str(path) in _OF_THE_GATEWAY


def _dangling(draft: Draft) -> Iterator[bool]:
    """For each reference, whether it cannot be resolved: its target would seem unused."""
    for document in draft.tree.documents.values():
        for pointer, holder in draft.tree.references(document.path):
            yield draft.target(document, pointer, holder) is None


def _belongs_to_unlisted(draft: Draft, path: PurePosixPath, used: frozenset[PurePosixPath]) -> bool:
    """Whether the index does not list the contract of `path`, which is reported already."""
    owner = _owner(path)
    return owner in draft.tree.documents and owner not in used


def _owner(path: PurePosixPath) -> PurePosixPath:
    """The contract that the schema file `path` belongs to."""
    if is_table(path):
        return path.parent.with_name("openapi.yaml")
    match path.parts[0]:
        case "webhooks":
            return path.with_name("webhook.yaml")
        case "events":
            return path.with_suffix(".yaml")
        case _:
            return path.with_name(f"{path.name.partition('.')[0]}.yaml")


def _listing(path: PurePosixPath) -> str:
    entry = _listed_as(path)
    if entry is not None:
        member, name = entry
        return f"Add `{name}: {{$ref: ./{path}}}` under {member}."
    return f"Add `./{path}` under x-{path.parts[0]}."


def _used(draft: Draft, index: Document) -> frozenset[PurePosixPath]:
    """Every file that the index refers to, directly or indirectly."""
    used: set[PurePosixPath] = set()
    waiting = [index, *_documents(draft, index, _listed_in(index))]
    while waiting:
        document = waiting.pop()
        if document.path not in used:
            used.add(document.path)
            waiting.extend(_documents(draft, document, draft.tree.references(document.path)))
    return frozenset(used)


def _listed_in(index: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in _LISTS:
        for position, ref in enumerate(index.value.get(name, ())):
            yield child(child("", name), position), {"$ref": ref}


def _documents(
    draft: Draft, document: Document, holders: Iterable[tuple[str, dict[str, Any]]]
) -> Iterator[Document]:
    for pointer, holder in holders:
        target = draft.target(document, pointer, holder)
        if target:
            yield target.document
