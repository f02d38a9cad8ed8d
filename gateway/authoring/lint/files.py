"""Checks of files: their places, the index, their meta-schemas, and the references between them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from gateway.authoring.contracts import meta
from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.refs import closure, resolve
from gateway.authoring.contracts.tree import (
    COMMON,
    ENTITIES,
    POLICIES,
    PROMPTS,
    RESOURCES,
    WORKFLOWS,
)
from gateway.authoring.lint.draft import Draft, is_table, meta_schema_of
from gateway.authoring.lint.rules import BY_ID
from gateway.authoring.lint.upstreams import operations
from gateway.contract.schemas import keywords
from gateway.contract.schemas.keywords import SCHEMA_LISTS
from gateway.contract.values import jsontext
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child, follow, parent, steps
from gateway.contract.values.violation import Violation
from gateway.project_folder import INDEX

# Checks that every file has the right path, is listed in the index, and is used.

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
    | workflows/{_NAME}\.arazzo\.yaml
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
                "files/<file> beside them, entities/<kind>.json, workflows/<name>.arazzo.yaml or "
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
    return path.parts[0] in {RESOURCES, PROMPTS, WORKFLOWS} or str(path) in _OF_THE_GATEWAY


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


# Checks files against their meta-schemas, and the copies of the meta-schemas.

_IN_PLACE: Final = ("then", "else")


class _Part(NamedTuple):
    """A schema, and the file that its references are relative to."""

    file: str
    schema: dict[str, Any]


def names_at(file: str, document: Any, pointer: str) -> tuple[str, ...]:
    """The names that the object at `pointer` may have, if the meta-schema closes it."""
    closed = (
        p for p in _parts_at(file, document, pointer) if p.get("additionalProperties") is False
    )
    return tuple(dict.fromkeys(name for part in closed for name in part.get("properties", {})))


def values_at(file: str, document: Any, pointer: str) -> tuple[Any, ...]:
    """The values that are allowed at `pointer`. Empty if they are not listed."""
    listed = [part["enum"] for part in _parts_at(file, document, pointer) if "enum" in part]
    return tuple(listed[0]) if listed else ()


def types_at(file: str, document: Any, pointer: str) -> tuple[str, ...]:
    """The types that are allowed at `pointer`, by the outermost schema with a type."""
    listed = [part["type"] for part in _parts_at(file, document, pointer) if "type" in part]
    if not listed:
        return ()
    return (listed[0],) if isinstance(listed[0], str) else tuple(listed[0])


def _parts_at(file: str, document: Any, pointer: str) -> list[dict[str, Any]]:
    """The schemas that validate the value at `pointer` of `document`."""
    value = document
    parts = list(_all(_Part(file, jsontext.decode(meta.texts()[file])), value))
    for step in steps(pointer):
        value = value[int(step)] if isinstance(value, list) else value[step]
        inner = [found for part in parts for found in _below(part, step)]
        parts = [found for part in inner for found in _all(part, value)]
    return [part.schema for part in parts]


def _all(part: _Part, value: Any) -> Iterator[_Part]:
    """`part` and every subschema that applies to the same value."""
    yield part
    for schema in _applied(part.schema, value):
        yield from _all(_Part(part.file, schema), value)
    if "$ref" in part.schema:
        yield from _all(_target(part.file, part.schema["$ref"]), value)


def _applied(schema: dict[str, Any], value: Any) -> Iterator[dict[str, Any]]:
    yield from (schema[keyword] for keyword in _IN_PLACE if keyword in schema)
    for keyword in SCHEMA_LISTS - {"prefixItems"}:
        yield from schema.get(keyword, ())
    for name, each in schema.get("dependentSchemas", {}).items():
        if isinstance(value, dict) and name in value:
            yield each


def _target(file: str, ref: str) -> _Part:
    name, _, fragment = ref.partition("#")
    target = name or file
    return _Part(target, follow(jsontext.decode(meta.texts()[target]), fragment))


def _below(part: _Part, step: str) -> Iterator[_Part]:
    """The subschemas of `part` for the member or item `step`."""
    schema = part.schema
    found = [schema["properties"][step]] if step in schema.get("properties", {}) else []
    patterns = schema.get("patternProperties", {})
    found += [each for pattern, each in patterns.items() if re.search(pattern, step)]
    found += [schema.get("additionalProperties")] if not found else []
    found += [schema.get("items")] if step.isdecimal() else []
    yield from (_Part(part.file, each) for each in found if isinstance(each, dict))


_RULES: Final = {
    "index.schema.json": "shape/index",
    "policies.schema.json": "shape/policies",
    "upstream.schema.json": "shape/upstream",
    "tool.schema.json": "shape/tool",
    "webhook.schema.json": "shape/webhook",
    "event.schema.json": "shape/event",
    "entity.schema.json": "shape/entity",
    "resource.schema.json": "shape/resource",
    "prompt.schema.json": "shape/prompt",
    "workflow.schema.json": "shape/workflow",
}
_EXTENSIONS: Final = {
    "tool.schema.json": ("/post/x-mcp", "/post/x-policy", "/post/x-binding"),
    "webhook.schema.json": ("/post/x-webhook",),
    "entity.schema.json": ("/x-entity",),
}
_ONE_KIND: Final = (
    "must hold exactly one of value, const, object, array, each, count, python and ref"
)
_FORMS: Final = {
    ("shape/x-binding", "oneOf"): _ONE_KIND,
    ("shape/x-webhook", "oneOf"): _ONE_KIND,
    ("shape/x-binding", "pattern"): (
        "is not an expression: write `$inputs.name`, `$response.body#/pointer`, `@/pointer`, …; "
        "a fixed value is `{const: …}`"
    ),
}
"""Messages that replace those of the validator, which would describe the meta-schema."""


_MAX_LISTED: Final = 12
"""The longest list of names or values in a message."""
_TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def check_shapes(draft: Draft) -> Iterator[Finding]:
    """shape/*"""
    for path, violations in draft.misshapen.items():
        document = draft.tree.documents[path]
        for violation in violations:
            rule = _rule(meta_schema_of(path) or "", violation.pointer)
            message, fix = _message_and_fix(rule, document, violation)
            yield draft.finding(rule, document, violation.pointer, message, fix)


def _message_and_fix(rule: str, document: Document, violation: Violation) -> tuple[str, str | None]:
    """The message, and as a fix a similar name or value, or the known names."""
    file, pointer = meta_schema_of(document.path) or "", violation.pointer
    message = _FORMS.get((rule, violation.keyword), violation.detail)
    match violation.keyword:
        case "additionalProperties":
            names = names_at(file, document.value, parent(pointer))
            name = steps(pointer)[-1]
            known = [each for each in names if each != name]
            message = f"unknown property {name}" if known else message
            return message, did_you_mean(name, known) or _known_names(known)
        case "enum" if 0 < len(values := values_at(file, document.value, pointer)) <= _MAX_LISTED:
            known = [str(each) for each in values]
            value = str(follow(document.value, pointer))
            return f"must be one of {', '.join(known)}", did_you_mean(value, known)
        case "type" if types := types_at(file, document.value, pointer):
            return f"must be {' or '.join(_TYPES[each] for each in types)}", None
        case _:
            return message, None


def _known_names(names: Sequence[str]) -> str | None:
    """A fix that lists the allowed names."""
    return f"Known names: {', '.join(names)}." if 0 < len(names) <= _MAX_LISTED else None


def _rule(name: str, pointer: str) -> str:
    for extension in _EXTENSIONS.get(name, ()):
        if f"{pointer}/".startswith(f"{extension}/"):
            return f"shape/{steps(extension)[-1]}"
    return _RULES[name]


def check_meta_copies(draft: Draft) -> Iterator[Finding]:
    """meta/stale"""
    rule = BY_ID["meta/stale"]
    for name in meta.stale_copies(draft.tree.root):
        yield Finding(
            path=f"_meta/{name}",
            line=1,
            pointer="",
            rule=rule.id,
            message="the copy is missing or belongs to another version of the gateway",
            fix=rule.fix,
        )


# Checks of references: their targets, their expansion, and the members beside them.

_MAY_STAND_BESIDE: Final = keywords.ANNOTATIONS | {"$ref", "$defs", "$schema", "summary"}


def check_targets(draft: Draft) -> Iterator[Finding]:
    """ref/remote, ref/absolute, ref/escapes, ref/malformed, ref/dangling, ref/sibling"""
    for document in draft.tree.documents.values():
        for pointer, holder in draft.tree.references(document.path):
            try:
                resolve(draft.tree, document.path, holder["$ref"], pointer)
            except ContractRefused as refused:
                yield from refused.findings
            others = sorted(holder.keys() - _MAY_STAND_BESIDE)
            if others:
                message = f"{', '.join(others)} beside $ref: tools interpret this differently"
                yield draft.finding("ref/sibling", document, pointer, message)


def check_rows(draft: Draft) -> Iterator[Finding]:
    """ref/recursive-row"""
    rows = [each for root in draft.roots if (each := root.document).path.parts[0] == ENTITIES]
    rows += [root.document for root in draft.roots if is_table(root.document.path)]
    for document in rows:
        schema = draft.expanded(document.path, "")
        if isinstance(schema, dict) and "$defs" in schema:
            message = "a row contains a schema that contains itself"
            yield draft.finding("ref/recursive-row", document, "", message)


def check_common(draft: Draft) -> Iterator[Finding]:
    """ref/common-cycle"""
    for document in draft.tree.documents.values():
        if document.path.parts[0] != COMMON:
            continue
        for pointer, holder in draft.tree.references(document.path):
            target = draft.target(document, pointer, holder)
            if target is None or target.document is document:
                continue
            if _leads_to(draft, target.document.path, document.path):
                message = f"{target.document.path} refers to this file as well"
                yield draft.finding("ref/common-cycle", document, pointer, message)


def _leads_to(draft: Draft, path: PurePosixPath, other: PurePosixPath) -> bool:
    try:
        return other in closure(draft.tree, path)
    except ContractRefused:
        return False


def check_expansions(draft: Draft) -> Iterator[Finding]:
    """ref/recursive, ref/same-name, schema/too-large, schema/too-deep"""
    for entry in draft.entries:
        yield from draft.refusals(entry.document.path, entry.pointer)
    for tool, media in draft.published():
        yield from draft.refusals(tool.path, f"{media}/schema")
    for path in (*(each.path for each in draft.webhooks), *(each.path for each in draft.events)):
        yield from draft.refusals(path, "/post")
    for document in draft.upstreams.values():
        for operation in operations(document):
            around = parent(operation.pointer)
            for pointer in (operation.pointer, f"{around}/parameters"):
                yield from draft.refusals(document.path, pointer)
