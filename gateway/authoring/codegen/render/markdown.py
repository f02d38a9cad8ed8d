"""Converts the texts and schemas of contracts to Markdown. No other module does that."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.codegen.ir import ContractSource
from gateway.authoring.codegen.render.artifact import header
from gateway.authoring.codegen.render.models import kinds_of
from gateway.profiles.inlining import inlined

# Converts the texts of contracts to Markdown.
#
# Texts are escaped (CommonMark 0.31, MyST): they cannot contain HTML, directives, roles, fences,
# links or headings. Code spans in single backticks are kept.

_CODE: Final = re.compile(r"(?<![`\\])`([^`]+)`(?!`)")
_MARKUP: Final = re.compile(r"[\\`*\[\]<{}~]|&(?=[#A-Za-z])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_OPENING: Final = re.compile(r"[#>+=:%|-]|\((?=.*\)=$)")
"""Characters that start a block at the beginning of a line."""
_NUMBER: Final = re.compile(r"(\d+)([.)])")


def page_header(source: ContractSource) -> str:
    """The header of a page, as a comment."""
    return f"<!--\n{header(source, comment='').replace('--', '- -')}\n-->"


def joined(parts: Iterable[str]) -> str:
    """A page of `parts`."""
    return "\n\n".join(parts) + "\n"


def prose(text: str) -> str:
    """The `text` of a contract as paragraphs."""
    return "\n\n".join(line for part in text.split("\n\n") if (line := inline(part)))


def inline(text: str) -> str:
    """The `text` of a contract as one line, for headings, cells and sentences."""
    line = " ".join(text.split())
    parts, end = [], 0
    for span in _CODE.finditer(line):
        parts += [_escaped(line[end : span.start()]), span[0]]
        end = span.end()
    return _unopened("".join([*parts, _escaped(line[end:])]))


def code(text: str) -> str:
    """`text` as a code span, also if it contains backticks (CommonMark §6.1)."""
    line = " ".join(str(text).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(language: str, text: str) -> str:
    """`text` as a code block, also if it contains fences."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table. Cells are Markdown; line breaks in them become spaces."""
    lines = [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)


def _unopened(line: str) -> str:
    if number := _NUMBER.match(line):
        return f"{number[1]}\\{line[number.end(1) :]}"
    return f"\\{line}" if _OPENING.match(line) else line


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# Converts a schema to table rows: each member's path, type, bounds and description.

_MAX_SCHEMAS: Final = 200
"""The most rows of a schema that contains itself."""

Schema = dict[str, Any]


class DocumentedField(Struct, frozen=True, kw_only=True):
    """One row. `kind` and `bounds` are Markdown. The other texts come from the contract."""

    path: str
    """`flight.legs[].date`."""
    kind: str
    bounds: str
    default: str
    is_required: bool
    description: str


def fields_of(schema: Schema) -> Iterator[DocumentedField]:
    """A row per property, in the order of the contract. Rows of members follow their object.

    What contains itself has rows for its first level.
    """
    yield from _fields_of(inlined(schema, _MAX_SCHEMAS) if "$defs" in schema else schema)


def _fields_of(schema: Schema, prefix: str = "") -> Iterator[DocumentedField]:
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        facts = member if isinstance(member, dict) else {}
        path = f"{prefix}{name}"
        yield DocumentedField(
            path=path,
            kind=kind_of(facts),
            bounds=bounds_of(facts),
            default=json.dumps(facts["default"], ensure_ascii=False) if "default" in facts else "",
            is_required=name in required,
            description=str(facts.get("description", "")),
        )
        yield from _nested(facts, path)


def kind_of(schema: Schema | bool, marked: Callable[[str], str] = code) -> str:
    """The type in words, such as `string (date)`, `list of integer` or a list of values.

    `marked` formats a value of the contract. By default it is code in Markdown.
    """
    if isinstance(schema, bool):
        return "any"
    if "const" in schema:
        return marked(_display_text(schema["const"]))
    if "enum" in schema:
        return "one of " + ", ".join(marked(_display_text(value)) for value in schema["enum"])
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema:
            kinds = (kind_of(branch, marked) for branch in schema[keyword])
            return " or ".join(dict.fromkeys(kinds))
    words = [_word(kind, schema, marked) for kind in kinds_of(schema)]
    return " or ".join(words) if words else "any"


def bounds_of(schema: Schema) -> str:
    """The bounds of the value, and of the items of a list."""
    found = [(schema[key], one, many) for key, one, many in _BOUNDS if key in schema]
    own = [
        code(_display_text(value))
        if one == "{}"
        else (one if value == 1 else many).format(_display_text(value))
        for value, one, many in found
    ]
    items = schema.get("items")
    each = bounds_of(items) if isinstance(items, dict) else ""
    return "; ".join([*own, *([f"each {each}"] if each else [])])


_BOUNDS: Final = (
    ("minimum", "at least {}", "at least {}"),
    ("exclusiveMinimum", "more than {}", "more than {}"),
    ("maximum", "at most {}", "at most {}"),
    ("exclusiveMaximum", "less than {}", "less than {}"),
    ("multipleOf", "a multiple of {}", "a multiple of {}"),
    ("minLength", "at least {} character", "at least {} characters"),
    ("maxLength", "at most {} character", "at most {} characters"),
    ("pattern", "{}", "{}"),
    ("minItems", "at least {} item", "at least {} items"),
    ("maxItems", "at most {} item", "at most {} items"),
)
"""Keyword, and its text for the number 1 and for other numbers."""


def _word(kind: str, schema: Schema, marked: Callable[[str], str]) -> str:
    if kind == "array":
        items = schema.get("items", True)
        return f"list of {kind_of(items, marked)}" if isinstance(items, dict) and items else "list"
    if kind == "string" and "format" in schema:
        return f"string ({inline(str(schema['format']))})"
    return kind


def _display_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _nested(schema: Schema, path: str) -> Iterator[DocumentedField]:
    yield from _fields_of(schema, f"{path}.")
    items = schema.get("items")
    if isinstance(items, dict):
        yield from _nested(items, f"{path}[]")
    for keyword in ("oneOf", "anyOf"):
        for branch in schema.get(keyword, ()):
            if isinstance(branch, dict):
                yield from _nested(branch, path)
