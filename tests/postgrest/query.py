"""What a request to PostgREST asks for, read from its URL and its Prefer header.

Written from PostgREST's documentation, without a look at the gateway's handler: the two meet in
the conformance tests.
"""

import re
from dataclasses import dataclass, field

OPERATORS = {
    "eq": "=",
    "neq": "<>",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "like": "LIKE",
    "ilike": "ILIKE",
}
RESERVED = {"select", "order", "limit", "offset", "columns", "on_conflict"}
PREFERENCES = re.compile(
    r"(return=(minimal|representation|headers-only)|count=(exact|planned|estimated)"
    r"|handling=(strict|lenient)|missing=(default|null)|tx=(commit|rollback)"
    r"|max-affected=[0-9]+|resolution=(merge|ignore)-duplicates)"
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
DIRECTIONS = re.compile(r"([A-Za-z_][A-Za-z0-9_$]*)(\.asc|\.desc)?(\.nullsfirst|\.nullslast)?")


class Refused(Exception):
    """The request cannot be served."""

    def __init__(self, status: int, code: str | None, message: str, details: str | None = None):
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "message": message, "details": details, "hint": None}


@dataclass
class Request:
    """A request that can be made into SQL."""

    select: list[str]
    where: str
    order: str
    limit: int | None
    offset: int
    columns: list[str] | None


@dataclass
class Preferences:
    """The Prefer header."""

    applied: list[str] = field(default_factory=list)

    def get(self, name: str) -> str | None:
        """What is preferred, or None."""
        found = [each.partition("=")[2] for each in self.applied if each.startswith(f"{name}=")]
        return found[0] if found else None


def identifier(name: str) -> str:
    """A name in SQL."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def literal(text: str) -> str:
    """A value in SQL whose type PostgreSQL takes from where it stands."""
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def read_request(parameters: list[tuple[str, str]]) -> Request:
    """Raises `Refused`."""
    last = dict(parameters)
    filters = [_filter(name, value) for name, value in parameters if name not in RESERVED]
    return Request(
        select=_names(last.get("select", "*")),
        where=" AND ".join(filters) or "true",
        order=_order(last["order"]) if last.get("order") else "",
        limit=_number(last["limit"]) if "limit" in last else None,
        offset=_number(last.get("offset", "0")),
        columns=_names(last["columns"]) if last.get("columns") else None,
    )


def read_preferences(header: str) -> Preferences:
    """Raises `Refused` for one that is not known, under strict handling."""
    asked = [each.strip() for each in header.split(",") if each.strip()]
    known = [each for each in asked if PREFERENCES.fullmatch(each)]
    if "handling=strict" in known and known != asked:
        unknown = ", ".join(each for each in asked if each not in known)
        message = "Invalid preferences given with handling=strict"
        raise Refused(400, "PGRST122", message, f"Invalid preferences: {unknown}")
    return Preferences(known)


def _names(text: str) -> list[str]:
    names = [name.strip().strip('"') for name in text.split(",")]
    for name in names:
        if name != "*" and not NAME.fullmatch(name):
            raise _unreadable("field name")
    return names


def _filter(column: str, expression: str) -> str:
    name = identifier(column)
    negated = expression.startswith("not.")
    operator, dot, operand = expression.removeprefix("not.").partition(".")
    if not dot:
        raise _unreadable("operator")
    if operator == "in":
        condition = f"{name} IN ({', '.join(map(literal, _members(operand)))})"
    elif operator == "is":
        condition = f"{name} IS {_trilean(operand)}"
    elif operator in OPERATORS:
        pattern = operator in {"like", "ilike"}
        operand = operand.replace("*", "%") if pattern else operand
        condition = f"{name} {OPERATORS[operator]} {literal(operand)}"
    else:
        raise _unreadable("operator")
    return f"NOT ({condition})" if negated else condition


def _trilean(text: str) -> str:
    if text.lower() not in {"null", "true", "false", "unknown"}:
        raise _unreadable("null or trilean value")
    return text.upper()


def _members(text: str) -> list[str]:
    """The members of `(a,"b, c",d)`."""
    if not text.startswith("(") or not text.endswith(")"):
        raise _unreadable("list")
    inside, members, at = text[1:-1], [], 0
    while at <= len(inside):
        found = re.compile(r'"((?:[^"\\]|\\.)*)"(?=,|$)', re.DOTALL).match(inside, at)
        if found:
            members.append(re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL))
        else:
            found = re.compile(r"[^,)]*").match(inside, at)
            members.append(found[0])
        at = found.end() + 1
        if found.end() < len(inside) and inside[found.end()] != ",":
            raise _unreadable("list element")
    return members


def _order(text: str) -> str:
    return ", ".join(_term(term.strip()) for term in text.split(","))


def _term(term: str) -> str:
    found = DIRECTIONS.fullmatch(term)
    if not found:
        raise _unreadable("order")
    direction = {".asc": " ASC", ".desc": " DESC", None: ""}[found[2]]
    nulls = {".nullsfirst": " NULLS FIRST", ".nullslast": " NULLS LAST", None: ""}[found[3]]
    return f"{identifier(found[1])}{direction}{nulls}"


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise _unreadable("number")
    return int(text)


def _unreadable(what: str) -> Refused:
    return Refused(400, "PGRST100", f'"failed to parse {what}"', "unexpected input")
