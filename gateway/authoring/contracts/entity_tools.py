"""The read tools of an entity: the files that an author would write by hand for each of them."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.authoring.contracts import meta
from gateway.authoring.contracts.document import Document
from gateway.contract.fields.fieldmap import entity_id
from gateway.contract.rows.reads import NOT_FOUND
from gateway.contract.values.pointers import child
from gateway.encoding.shapes import PRIMITIVES

# What the read tools of an entity say of themselves: their texts and their examples.
#
# An entity may give the texts of its `list`. All others are made from its columns.

_LONGEST: Final = 1_500
"""Longer descriptions of entities are left out of those of their tools."""
_NEWEST: Final = {"summary": "The ten that changed last", "value": {"limit": 10}}
_FIRST: Final = {"summary": "The first page", "value": {}}
_NO_ROWS: Final[Mapping[str, Any]] = {"none": {"value": {"items": [], "next_cursor": None}}}
_MOMENT: Final = "2026-01-01T12:00:00Z"
_MESSAGE: Final = "00000000-0000-4000-8000-000000000001"


def texts_of(document: Document, which: str) -> Mapping[str, Any]:
    """What `x-entity.tools` says of the tool `which` besides its id."""
    declared = document.value["x-entity"]["tools"][which]
    return declared if isinstance(declared, dict) else {}


def title_of(document: Document, which: str, tool: str) -> str:
    """The title of the tool with the id `tool`."""
    title: str = texts_of(document, which).get("title") or _words(tool.split(".")[1]).capitalize()
    return title


def rows_of(document: Document) -> str:
    """What the texts of its `list` call the rows, in the plural."""
    rows: str = texts_of(document, "list").get("rows") or _words(document.path.stem)
    return rows


def description_of(document: Document, which: str) -> str:
    """What the tool does, and what its rows are."""
    if written := texts_of(document, which).get("description"):
        return str(written)
    kind, key = document.path.stem, " and ".join(document.value["x-entity"]["key"])
    does = f"Get the row of {kind} with this {key}."
    if which == "list":
        does = f"List the {rows_of(document)}, last changed first, in pages."
    about = str(document.value.get("description", "")).strip()
    if not about or len(about) > _LONGEST:
        return does
    return f"{does} {about.rstrip('.')}."


def filter_text(document: Document, name: str) -> str:
    """The description of the column `name` as an argument of the tool `list`."""
    if written := texts_of(document, "list").get("filters", {}).get(name):
        return str(written)
    does = f"Only {rows_of(document)} with this {_words(name)}."
    return f"{does} {document.value['properties'][name].get('description', '')}".strip()


def call_examples(document: Document, which: str) -> dict[str, Any]:
    """Two examples of arguments, by name."""
    if which == "get":
        pairs = (("one", "By its key"), ("other", "Another one"))
        return {
            name: {"summary": summary, "value": _example_key(document, index)}
            for index, (name, summary) in enumerate(pairs)
        }
    chosen = texts_of(document, "list").get("example") or _first_filter(document)
    if not chosen:
        return {"newest": _NEWEST, "first": _FIRST}
    return {"newest": _NEWEST, "some": {"summary": "With a filter", "value": chosen}}


def result_examples(document: Document, which: str) -> dict[str, Any]:
    """An example of a result, by name: a row with nothing but what every row has, or no rows."""
    if which == "list":
        return dict(_NO_ROWS)
    key = _example_key(document, 0)
    moments = dict.fromkeys(("occurred_at", "created_at", "updated_at"), _MOMENT)
    row = {"id": entity_id(document.path.stem, key), **key, "webhook_id": _MESSAGE, **moments}
    return {"found": {"value": {"item": row}}}


def examples_of_column(column: Mapping[str, Any]) -> list[Any]:
    """The examples that are no null."""
    return _given(column, "examples")


def _example_key(document: Document, index: int) -> dict[str, Any]:
    columns, names = document.value["properties"], document.value["x-entity"]["key"]
    return {each: examples_of_column(columns[each])[index] for each in names}


def _first_filter(document: Document) -> dict[str, Any]:
    """The first value of the first filter that says what values it has."""
    for name in document.value["x-entity"]["filters"]:
        column = document.value["properties"][name]
        for value in (_given(column, "examples") or _given(column, "enum"))[:1]:
            return {name: value}
    return {}


def _given(column: Mapping[str, Any], keyword: str) -> list[Any]:
    return [each for each in column.get(keyword, ()) if each is not None]


def _words(name: str) -> str:
    return name.replace("_", " ")


# The read tools of an entity: the files that an author would write by hand for each of them.
#
# An entity names its tools in `x-entity.tools`. Everything else follows from its columns, so the
# files are made when a schemas folder is read, and are checked and generated like any others.

TOOLS: Final = "/x-entity/tools"
MAX_ROWS: Final = 200
LEAST_EXAMPLES: Final = 2
_PAGE: Final = frozenset({"limit", "cursor"})
_JOINED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if"})
"""Keywords that say in another place, or in several, what a column admits."""
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_HINTS: Final = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
_LIMIT: Final = {
    "description": "Maximum number of rows in one page.",
    "type": "integer",
    "minimum": 1,
    "maximum": MAX_ROWS,
    "default": 50,
}
_CURSOR: Final = {
    "description": "Start of the page: `next_cursor` of the previous page. Keep the same filters.",
    "type": "string",
    "minLength": 1,
    "maxLength": 300,
}
_FOUND: Final = {"get": "The row.", "list": "One page."}
_ERRORS: Final[Mapping[str, Any]] = {
    "get": {"errors": {NOT_FOUND: {"status": 404, "title": "There is no row with this key."}}},
    "list": {},
}
_NEXT_CURSOR: Final = {
    "description": "Cursor of the next page; null if this is the last page.",
    "type": ["string", "null"],
    "maxLength": 300,
}


def entity_tools(documents: Mapping[PurePosixPath, Document]) -> dict[PurePosixPath, Document]:
    """The files of the tools that the entities among `documents` declare, by path.

    Tools with problems have none, and so have tools whose files exist. The lint reports both.
    """
    found: dict[PurePosixPath, Document] = {}
    for document in documents.values():
        for which, tool in declared_tools(document).items():
            files = [] if any(tool_problems(document, which)) else _files(document, which, tool)
            if not any(each.path in documents or each.path in found for each in files):
                found |= {each.path: each for each in files}
    return found


def declared_tools(document: Document) -> Mapping[str, str]:
    """`get` and `list` with the ids of their tools. Empty for other files and malformed ones."""
    path, value = document.path, document.value
    rules = value.get("x-entity") if isinstance(value, dict) else None
    if path.parts[0] != "entities" or not isinstance(rules, dict) or "tools" not in rules:
        return {}
    if not meta.validator("entity.schema.json").admits(value):
        return {}
    return {
        which: tool if isinstance(tool, str) else tool["tool"]
        for which, tool in rules["tools"].items()
    }


def tool_problems(document: Document, which: str) -> Iterator[tuple[str, str]]:
    """Why the tool `which` cannot be made: for each column, a pointer and a message."""
    yield from _text_problems(document, which)
    for member, name in _inputs(document, which):
        pointer = child("/properties", name)
        column = document.value["properties"].get(name)
        if column is None:
            yield f"/x-entity/{member}", f"there is no column {name}"
        elif not _JOINED.isdisjoint(column) or len(_types(column)) != 1:
            yield (
                pointer,
                f"the column {name} is an argument of a tool and has no `type` of its own",
            )
        elif which == "list" and name in _PAGE:
            yield pointer, f"the argument {name} of a list begins or limits the page"
        elif which == "get" and len(examples_of_column(column)) < LEAST_EXAMPLES:
            yield (
                pointer,
                f"the column {name} is an argument of a tool and has fewer than 2 examples",
            )


def _text_problems(document: Document, which: str) -> Iterator[tuple[str, str]]:
    """Texts and examples of columns that are no filters."""
    known = document.value["x-entity"]["filters"]
    for member in ("filters", "example"):
        for name in texts_of(document, which).get(member, {}):
            if name not in known:
                place = child(child(child(TOOLS, which), member), name)
                yield place, f"{name} is not one of the filters of this entity"


def tool_path(tool: str) -> PurePosixPath:
    """The path of the Path Item of this tool."""
    return PurePosixPath("tools", *f"{tool}.yaml".split(".", 1))


def _inputs(document: Document, which: str) -> Iterator[tuple[str, str]]:
    """The columns that are arguments, with the member of `x-entity` that names them."""
    member = "key" if which == "get" else "filters"
    yield from ((member, name) for name in document.value["x-entity"][member])


def _files(document: Document, which: str, tool: str) -> list[Document]:
    """The Path Item of the tool and its two schemas."""
    path = tool_path(tool)
    title = title_of(document, which, tool)
    arguments, result = (_key, _row) if which == "get" else (_filters, _page)
    contents = {
        path: {"post": _operation(document, which, tool)},
        path.with_suffix(".input.json"): _schema(f"{title} input", arguments(document)),
        path.with_suffix(".output.json"): _schema(f"{title} output", result(document)),
    }
    pointer = child(TOOLS, which)
    return [document.derived(each, value, pointer) for each, value in contents.items()]


def _operation(document: Document, which: str, tool: str) -> dict[str, Any]:
    connector, name = tool.split(".")
    examples, result = call_examples(document, which), result_examples(document, which)
    policy = {"effect": "read", "timeoutSeconds": 30, **_ERRORS[which]}
    return {
        "operationId": tool,
        "tags": [connector],
        "summary": title_of(document, which, tool),
        "description": description_of(document, which),
        "x-mcp": {"name": f"{connector}_{name}", "annotations": _HINTS},
        "x-policy": policy,
        "x-query": True,
        "x-binding": {"entity": document.path.stem, "rows": which},
        "requestBody": {
            "required": True,
            "content": {"application/json": _media(f"./{name}.input.json", examples)},
        },
        "responses": {
            "200": {
                "description": _FOUND[which],
                "content": {"application/json": _media(f"./{name}.output.json", result)},
            },
            "default": {
                "description": "The call failed.",
                "content": {
                    "application/problem+json": {"schema": {"$ref": "../../common/problem.json"}}
                },
            },
        },
    }


def _media(ref: str, examples: dict[str, Any]) -> dict[str, Any]:
    return {"schema": {"$ref": ref}, "examples": examples}


def _schema(title: str, members: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": DIALECT, "title": title, **members}


def _key(document: Document) -> dict[str, Any]:
    columns = {
        name: _argument(document.value["properties"][name]) for _, name in _inputs(document, "get")
    }
    return _closed("The key of the row.", columns, list(columns))


def _filters(document: Document) -> dict[str, Any]:
    columns = {
        name: {
            **_argument(document.value["properties"][name]),
            "description": filter_text(document, name),
        }
        for _, name in _inputs(document, "list")
    }
    return _closed("Filters and page.", {**columns, "limit": _LIMIT, "cursor": _CURSOR}, [])


def _row(document: Document) -> dict[str, Any]:
    return _closed("The row.", {"item": _reference(document)}, ["item"])


def _page(document: Document) -> dict[str, Any]:
    items = {
        "description": "The rows, last changed first.",
        "type": "array",
        "maxItems": MAX_ROWS,
        "items": _reference(document),
    }
    columns = {"items": items, "next_cursor": _NEXT_CURSOR}
    return _closed(f"One page of the {rows_of(document)}.", columns, ["items", "next_cursor"])


def _closed(description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "description": description,
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": properties,
    }


def _reference(document: Document) -> dict[str, str]:
    return {"$ref": f"../../{document.path}"}


def _argument(column: dict[str, Any]) -> dict[str, Any]:
    """The column as an argument: without null, and without what only rows have."""
    (kind,) = _types(column)
    argument = {k: v for k, v in column.items() if k not in {"default", "readOnly"}}
    argument["type"] = kind
    for keyword in ("enum", "examples"):
        if keyword in column:
            argument[keyword] = [each for each in column[keyword] if each is not None]
    return argument


def _types(column: dict[str, Any]) -> list[str]:
    """The types without null, if they are all scalar."""
    kinds = column.get("type")
    found = [kinds] if isinstance(kinds, str) else [*(kinds or ())]
    return [each for each in found if each != "null"] if {*found} <= PRIMITIVES | {"null"} else []
