"""Checks of tools: names, texts, hints, examples, personal arguments, and content blocks."""

import base64
import binascii
import keyword
import re
from collections.abc import Iterator
from typing import Any, Final

from gateway.authoring.contracts import meta
from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.expanding import dereference
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.refs import INPUT
from gateway.authoring.contracts.tree import ToolSource
from gateway.authoring.lint.draft import BLOCKS_COPY, Draft, SchemaNode
from gateway.contract.agent_view import OWN_TOOLS
from gateway.contract.operation import JOBS
from gateway.contract.values.files import BLOCKS, BLOCKS_TYPE, file_types_of
from gateway.contract.values.pointers import child

# Checks of tools: names, schema files, tags, summaries, descriptions and hints.

_FIRST_WORD: Final = re.compile(r"[A-Z][a-z]+(?=[ ,.])")
_NO_VERBS: Final = frozenset(
    {"This", "The", "A", "An", "It", "Its", "Tool", "Function", "Use", "When", "With", "For", "By"}
)
_HINTS: Final[dict[str, dict[str, bool]]] = {
    "read": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
    "write": {"readOnlyHint": False},
    "destroy": {"readOnlyHint": False, "destructiveHint": True},
}


def check_names(draft: Draft) -> Iterator[Finding]:
    """tool/name, tool/operation-id, tool/mcp-name"""
    for tool in draft.tools:
        if keyword.iskeyword(tool.connector) or keyword.iskeyword(tool.tool):
            message = "a Python keyword cannot be the name of the generated module"
            yield draft.finding("tool/name", tool.document, "", message)
        if tool.connector == JOBS:
            message = f"/v1/{JOBS} is where callers find their jobs"
            yield draft.finding("tool/name", tool.document, "", message)
        mcp_name = f"{tool.connector}_{tool.tool}"
        for rule, pointer, wanted in (
            ("tool/operation-id", "/post/operationId", tool.id),
            ("tool/mcp-name", "/post/x-mcp/name", mcp_name),
        ):
            found = draft.at(tool.document, pointer)
            if found != wanted:
                message = f"{found} does not match the file's path"
                yield draft.finding(rule, tool.document, pointer, message, f"Write {wanted}.")


def check_collisions(draft: Draft) -> Iterator[Finding]:
    """tool/name-collision"""
    owners: dict[tuple[str | None, str], str] = {}
    for tool in draft.tools:
        owners.setdefault((None, tool.operation["x-mcp"]["name"]), tool.id)
        owners.setdefault((tool.connector, tool.tool), tool.id)
    for tool in draft.tools:
        if tool.tool in OWN_TOOLS:
            yield _own(draft, tool, "/post/operationId", tool.tool)
        for pointer, name in _names(tool):
            if name in OWN_TOOLS:
                yield _own(draft, tool, pointer, name)
            for scope in (None, tool.connector):
                owner = owners.setdefault((scope, name), tool.id)
                if owner != tool.id:
                    message = f"{name} is already a name of {owner}"
                    yield draft.finding("tool/name-collision", tool.document, pointer, message)


def _own(draft: Draft, tool: ToolSource, pointer: str, name: str) -> Finding:
    message = f"{name} is the name of a tool of the gateway itself"
    return draft.finding("tool/name-collision", tool.document, pointer, message)


def _names(tool: ToolSource) -> Iterator[tuple[str, str]]:
    mcp = tool.operation["x-mcp"]
    yield "/post/x-mcp/name", mcp["name"]
    for index, alias in enumerate(mcp.get("aliases", ())):
        yield f"/post/x-mcp/aliases/{index}", alias


def check_succession(draft: Draft) -> Iterator[Finding]:
    """tool/deprecation, tool/replaces"""
    known = {tool.id for tool in draft.tools}
    claimed: dict[str, str] = {}
    for tool in draft.tools:
        facts = tool.operation.get("x-deprecation", {})
        successor, sunset = facts.get("successor"), facts.get("sunset")
        place = "/post/x-deprecation"
        if successor is not None and (successor == tool.id or successor not in known):
            reason = "is this tool" if successor == tool.id else "is no tool"
            message = f"the successor {successor} {reason}"
            yield draft.finding("tool/deprecation", tool.document, f"{place}/successor", message)
        if sunset is not None and sunset <= facts["since"]:
            message = f"{sunset} is not after {facts['since']}"
            yield draft.finding("tool/deprecation", tool.document, f"{place}/sunset", message)
        for index, gone in enumerate(tool.operation.get("x-replaces", ())):
            owner = claimed.setdefault(gone, tool.id)
            if gone in known or owner != tool.id:
                message = (
                    f"{gone} is {'a tool' if gone in known else f'replaced by {owner} already'}"
                )
                pointer = f"/post/x-replaces/{index}"
                yield draft.finding("tool/replaces", tool.document, pointer, message)


def check_schema_files(draft: Draft) -> Iterator[Finding]:
    """tool/schema-file"""
    for tool in draft.tools:
        sides = ("requestBody", "input"), ("responses/200", "output")
        for member, side in sides:
            pointer = f"/post/{member}/content/application~1json/schema"
            wanted = tool.path.with_name(f"{tool.tool}.{side}.json")
            holder = draft.at(tool.document, pointer)
            target = draft.target(tool.document, pointer, holder)
            if target and (target.document.path, target.pointer) != (wanted, ""):
                message = f"the {side} schema of this tool must be in {wanted.name}"
                fix = f"Write {{$ref: ./{wanted.name}}}."
                yield draft.finding("tool/schema-file", tool.document, pointer, message, fix)


def check_tags(draft: Draft) -> Iterator[Finding]:
    """tool/tag, tool/unknown-tag"""
    index = draft.index
    if index is None:
        return
    for tool in draft.tools:
        if tool.connector not in tool.operation["tags"]:
            message = f"the tags do not include {tool.connector}"
            yield draft.finding("tool/tag", tool.document, "/post/tags", message)
    known = {tag["name"] for tag in index.value.get("tags", ())}
    for document in _tagged(draft):
        for position, tag in enumerate(document.value["post"]["tags"]):
            if tag not in known:
                pointer = f"/post/tags/{position}"
                message = f"openapi.yaml does not describe the tag {tag}"
                yield draft.finding("tool/unknown-tag", document, pointer, message)


def _tagged(draft: Draft) -> Iterator[Document]:
    yield from (tool.document for tool in draft.tools)
    yield from (webhook.document for webhook in draft.webhooks)
    yield from (event.document for event in draft.events)


def check_words(draft: Draft) -> Iterator[Finding]:
    """tool/summary, tool/description"""
    for tool in draft.tools:
        summary, description = tool.operation["summary"], tool.operation["description"]
        if not summary[0].isupper() or summary.endswith("."):
            message = "the summary does not begin with a capital, or ends with a full stop"
            yield draft.finding("tool/summary", tool.document, "/post/summary", message)
        problem = _problem_of(description.strip())
        if problem:
            yield draft.finding("tool/description", tool.document, "/post/description", problem)


def _problem_of(description: str) -> str | None:
    first = _FIRST_WORD.match(description)
    if first is None or first[0] in _NO_VERBS or _is_third_person(first[0]):
        return "the description does not begin with a verb in the imperative"
    if not description.endswith("."):
        return "the description does not end with a full stop"
    return None


def _is_third_person(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us"))


def check_annotations(draft: Draft) -> Iterator[Finding]:
    """tool/annotations"""
    for tool in draft.tools:
        policy = tool.operation["x-policy"]
        name = "escalation" if "escalation" in policy else "effect"
        wanted = _escalated(policy) if name == "escalation" else _HINTS[policy["effect"]]
        hints: dict[str, Any] = tool.operation["x-mcp"]["annotations"]
        for hint, value in wanted.items():
            if hints[hint] is not value:
                pointer = child("/post/x-mcp/annotations", hint)
                what = (
                    "the escalation" if name == "escalation" else f"the effect {policy['effect']}"
                )
                message = f"{hint} contradicts {what}"
                fix = f"Write {hint}: {str(value).lower()}, or correct x-policy.{name}."
                yield draft.finding("tool/annotations", tool.document, pointer, message, fix)


def _escalated(policy: dict[str, Any]) -> dict[str, bool]:
    """The hints of a read that may write. It is idempotent only with an idempotency key."""
    has_key = any("idempotency" in name for name in policy["escalation"].get("requires", ()))
    return {"readOnlyHint": False} if has_key else {"readOnlyHint": False, "idempotentHint": False}


# Checks of x-query: the tool is a read, and every argument can be a query parameter.

_SCALARS: Final = ("boolean", "integer", "number", "string")


def check_queries(draft: Draft) -> Iterator[Finding]:
    """tool/query"""
    for tool in draft.tools:
        if "x-query" not in tool.operation:
            continue
        policy = tool.operation["x-policy"]
        if policy["effect"] != "read" or "escalation" in policy:
            message = "a tool with x-query must not change anything"
            yield draft.finding("tool/query", tool.document, "/post/x-query", message)
        for name in _unwritable(draft, tool):
            document = draft.file_of(tool, INPUT).document
            message = f"{name} cannot be written as a query parameter"
            yield draft.finding("tool/query", document, child("/properties", name), message)


def _unwritable(draft: Draft, tool: ToolSource) -> Iterator[str]:
    """The arguments that are not scalars. Empty if that is unknown."""
    try:
        schema: Any = dereference(draft.tree, tool.path, INPUT)
    except ContractRefused:
        return
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, member in properties.items() if isinstance(properties, dict) else ():
        if not isinstance(member, dict) or member.get("type") not in _SCALARS:
            yield name


# Checks of tools' examples: their number and their validity.

_LEAST_ARGUMENTS: Final = 2
_LEAST_RESULTS: Final = 1


def check_examples(draft: Draft) -> Iterator[Finding]:
    """tool/too-few-examples, tool/example-refused, tool/result-refused"""
    for tool, media in draft.published():
        is_arguments = "/requestBody/" in media
        examples = draft.at(tool.document, f"{media}/examples") or {}
        least = _LEAST_ARGUMENTS if is_arguments else _LEAST_RESULTS
        if len(examples) < least:
            what = "arguments" if is_arguments else "a result"
            message = f"there are {len(examples)} examples of {what}, and at least {least} needed"
            where = f"{media}/examples"
            yield draft.finding("tool/too-few-examples", tool.document, where, message)
        rule = "tool/example-refused" if is_arguments else "tool/result-refused"
        for name, example in examples.items():
            pointer = child(child(f"{media}/examples", name), "value")
            validator = draft.validator(tool.path, f"{media}/schema")
            for violation in validator.violations(example["value"]) if validator else ():
                message = f"the schema refuses this example: {violation.detail}"
                where = pointer + violation.pointer
                yield draft.finding(rule, tool.document, where, message)


# Checks that arguments which identify a person, or are secret, say whether they are sensitive.

_MARKS: Final = ("x-sensitive", "writeOnly")
_FORMATS: Final = frozenset({"email", "idn-email"})
_WORDS: Final = frozenset(
    {
        *("email", "mail_address", "phone", "phone_number", "mobile", "telephone"),
        *("first_name", "last_name", "full_name", "client_name", "customer_name"),
        *("date_of_birth", "birth_date", "passport_number", "iban", "card_number"),
        *("password", "secret", "token", "api_key", "access_token", "pin"),
    }
)
"""Names of arguments that identify a person or are secret."""


def check_marks(draft: Draft) -> Iterator[Finding]:
    """schema/sensitive-mark"""
    for node in draft.schemas:
        if node.is_ours and not isinstance(node.schema.get("x-sensitive", True), bool):
            message = "x-sensitive is neither true nor false"
            where = child(node.pointer, "x-sensitive")
            yield draft.finding("schema/sensitive-mark", node.document, where, message)


def check_personal(draft: Draft) -> Iterator[Finding]:
    """tool/personal-argument"""
    for tool in draft.tools:
        target = draft.file_of(tool, INPUT)
        if isinstance(target.value, dict):
            node = SchemaNode(target.document, target.pointer, target.value)
            yield from _unmarked(draft, node)


def _unmarked(draft: Draft, node: SchemaNode) -> Iterator[Finding]:
    """The personal members of `node` that have no mark. References are followed for one step."""
    if any(mark in node.schema for mark in _MARKS):
        return
    members = node.schema.get("properties")
    for name, member in members.items() if isinstance(members, dict) else ():
        if not isinstance(member, dict):
            continue
        where = child(child(node.pointer, "properties"), name)
        if _is_personal(draft, node, name, member, where):
            message = f"the argument {name} stands in audit records in clear"
            yield draft.finding("tool/personal-argument", node.document, where, message)
        else:
            yield from _unmarked(draft, SchemaNode(node.document, where, member))
    items = node.schema.get("items")
    if isinstance(items, dict):
        where = child(node.pointer, "items")
        if _is_personal(draft, node, "", items, where):
            message = "the items of this argument stand in audit records in clear"
            yield draft.finding("tool/personal-argument", node.document, where, message)
        else:
            yield from _unmarked(draft, SchemaNode(node.document, where, items))


def _is_personal(
    draft: Draft, node: SchemaNode, name: str, member: dict[str, Any], where: str
) -> bool:
    target = draft.target(node.document, where, member) if "$ref" in member else None
    behind = target.value if target is not None and isinstance(target.value, dict) else {}
    if any(mark in schema for mark in _MARKS for schema in (member, behind)):
        return False
    formats = {member.get("format"), behind.get("format")}
    return name.lower() in _WORDS or not _FORMATS.isdisjoint(formats)


# Checks of `x-mcp-header`: arguments that clients also send as HTTP headers (SEP-2243).

_KEYWORD: Final = "x-mcp-header"
_TYPES: Final = ("string", "integer", "boolean")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}")


def check_header_parameters(draft: Draft) -> Iterator[Finding]:
    """schema/header-parameter"""
    allowed: set[int] = set()
    for tool in draft.tools:
        target = draft.file_of(tool, INPUT)
        members = target.value.get("properties") if isinstance(target.value, dict) else None
        seen: set[str] = set()
        for name, member in members.items() if isinstance(members, dict) else ():
            if not isinstance(member, dict) or _KEYWORD not in member:
                continue
            allowed.add(id(member))
            where = child(child(target.pointer, "properties"), name)
            problem = _problem(member, seen)
            if problem is not None:
                pointer = child(where, _KEYWORD)
                yield draft.finding("schema/header-parameter", target.document, pointer, problem)
    for node in draft.schemas:
        if node.is_ours and _KEYWORD in node.schema and id(node.schema) not in allowed:
            pointer = child(node.pointer, _KEYWORD)
            message = "this is not an argument at the root of a tool's input"
            yield draft.finding("schema/header-parameter", node.document, pointer, message)


def _problem(member: dict[str, Any], seen: set[str]) -> str | None:
    """Why the keyword of `member` cannot be honoured. Adds its header to `seen`."""
    header = member[_KEYWORD]
    if not isinstance(header, str) or not _TOKEN.fullmatch(header):
        return "the name is no token of RFC 9110 with at most 64 characters"
    if member.get("type") not in _TYPES:
        return f"the argument's own type is none of {', '.join(_TYPES)}"
    if any(member.get(mark) is True for mark in _MARKS):
        return "headers stand in the logs of proxies, and the argument is sensitive"
    if header.lower() in seen:
        return f"another argument has the header {header} too"
    seen.add(header.lower())
    return None


# Checks of results that MCP clients get as content blocks: files, and lists of blocks.

_CONTENT: Final = "/post/responses/200/content"
_RESULT: Final = f"{_CONTENT}/application~1json"
_FILE: Final = {"content_type", "size"}
_DATA: Final = "data"
_KINDS: Final = ("Block", "TextBlock", "ImageBlock", "AudioBlock", "ResourceBlock", "LinkBlock")
_WITH_BLOCKS: Final = ("application/json", BLOCKS_TYPE)
_ANNOTATIONS: Final = {"title", "description"}
_LIST: Final = {"type", "items", "minItems", "maxItems", *_ANNOTATIONS}
MAX_BLOCKS: Final = 20
"""The most blocks of a result."""


def check_files(draft: Draft) -> Iterator[Finding]:
    """tool/file"""
    for tool in draft.tools:
        content = tool.operation["responses"]["200"]["content"]
        types = [*file_types_of(content)]
        if not types:
            continue
        schema = draft.expanded(tool.path, f"{_RESULT}/schema")
        fault = next(_faults(tool, content, types, schema), None)
        if fault is not None:
            yield draft.finding("tool/file", tool.document, *fault)
            continue
        for name, example in content["application/json"].get("examples", {}).items():
            if message := _example_fault(example["value"]):
                pointer = child(child(f"{_RESULT}/examples", name), "value")
                yield draft.finding("tool/file", tool.document, pointer, message)


def check_blocks(draft: Draft) -> Iterator[Finding]:
    """tool/blocks"""
    for tool in draft.tools:
        content = tool.operation["responses"]["200"]["content"]
        if BLOCKS_TYPE not in content:
            continue
        if len(content) > len(_WITH_BLOCKS):
            message = "a result of content blocks has no other form than its JSON"
            where = child(_CONTENT, BLOCKS_TYPE)
            yield draft.finding("tool/blocks", tool.document, where, message)
        elif not _is_of_blocks(draft, draft.expanded(tool.path, f"{_RESULT}/schema")):
            message = "the schema of the result is not that of content blocks"
            where = f"{_RESULT}/schema"
            yield draft.finding("tool/blocks", tool.document, where, message)


def check_blocks_copy(draft: Draft) -> Iterator[Finding]:
    """meta/stale"""
    copy = draft.tree.find(BLOCKS_COPY)
    if copy is not None and copy.value != meta.content_schema():
        message = "the copy has been changed or belongs to another version of the gateway"
        yield draft.finding("meta/stale", copy, "", message)


def _is_of_blocks(draft: Draft, schema: Any) -> bool:
    """Whether each value of `schema` is a list of blocks. True if that cannot be known."""
    if schema is None:
        return True
    if draft.tree.find(BLOCKS_COPY) is None or not isinstance(schema, dict):
        return False
    is_closed = schema.get("additionalProperties") is False
    if not is_closed or [*schema.get("properties", ())] != [BLOCKS]:
        return False
    listed = _object(schema["properties"][BLOCKS])
    known = (draft.expanded(BLOCKS_COPY, f"/$defs/{each}") for each in _KINDS)
    return (
        schema.get("required") == [BLOCKS]
        and {*listed} <= _LIST
        and listed.get("type") == "array"
        and 0 < listed.get("minItems", 0) <= listed.get("maxItems", MAX_BLOCKS + 1) <= MAX_BLOCKS
        and _plain(listed.get("items")) in [_plain(each) for each in known]
    )


def _plain(schema: Any) -> dict[str, Any]:
    return {name: each for name, each in _object(schema).items() if name not in _ANNOTATIONS}


def _faults(
    tool: ToolSource, content: dict[str, Any], types: list[str], schema: Any
) -> Iterator[tuple[str, str]]:
    first = child(_CONTENT, types[0])
    if "python" not in tool.operation["x-binding"]:
        yield first, "only a Python handler can return a file that the contract declares"
    if "text/plain" in content:
        yield child(_CONTENT, "text/plain"), "a result is a file or a text, and not both"
    for each in types:
        if each.endswith(("/json", "+json")):
            yield child(_CONTENT, each), "JSON is no file: it is the result itself"
    if isinstance(schema, dict) and (message := _schema_fault(schema, types)):
        yield f"{_RESULT}/schema", message


def _schema_fault(schema: dict[str, Any], types: list[str]) -> str | None:
    members = schema.get("properties")
    if not isinstance(members, dict) or {*members} != {*_FILE, _DATA}:
        return "the schema of a file has the members content_type, size and data"
    if {*schema.get("required", ())} != _FILE or schema.get("additionalProperties") is not False:
        return "the schema of a file is closed, and requires content_type and size only"
    kind, size, data = (_object(members[each]) for each in ("content_type", "size", _DATA))
    listed = [kind["const"]] if "const" in kind else kind.get("enum", ())
    if {*map(str, listed)} != {*types}:
        return f"the enum of content_type is {', '.join(sorted(types))}"
    if size.get("type") != "integer" or "maximum" not in size or data.get("type") != "string":
        return "size is an integer with a maximum, and data a string"
    return None


def _object(schema: Any) -> dict[str, Any]:
    return schema if isinstance(schema, dict) else {}


def _example_fault(value: Any) -> str | None:
    """Whether the example describes its bytes wrongly. The schema has checked the rest."""
    data = value.get(_DATA) if isinstance(value, dict) else None
    if not isinstance(data, str):
        return None
    try:
        found = base64.b64decode(data, validate=True)
    except binascii.Error:
        return "data is not base64"
    if len(found) != value.get("size"):
        return f"data has {len(found)} bytes, and size says another number"
    return None
