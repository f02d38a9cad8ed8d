"""The arguments of a tool: one flat object of parameters and members of the body."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.openapi.reading.schemas import Schema

MAX_MEMBER: Final = 64
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_.-]+")
"""Characters that clients refuse in names of arguments."""
_MAX_DESCRIPTION: Final = 2000


class Argument(Struct, frozen=True, kw_only=True):
    """One value that the caller gives."""

    name: str
    """The name on the wire. For the whole body, `body`."""
    location: str
    """A location of parameters, or `body`."""
    schema: Schema
    is_required: bool


def described(schema: Schema, holder: Mapping[str, Any]) -> Schema:
    """`schema` with the description of its `holder`, a Parameter or Request Body Object."""
    description = holder.get("description")
    if not isinstance(description, str) or not description.strip():
        return schema
    text = shortened(description)
    return {"description": text} if isinstance(schema, bool) else {**schema, "description": text}


def shortened(text: str, limit: int = _MAX_DESCRIPTION) -> str:
    """`text` without surrounding white space, and at most `limit` characters long."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit - 2].rstrip()} …"


def member_names(arguments: Sequence[Argument]) -> list[str]:
    """The member of each argument: its name, with its location as suffix if names collide."""
    plain = [cleaned(each.name) for each in arguments]
    counts = Counter(plain)
    wanted = [
        name if counts[name] == 1 else f"{name}_{each.location}"
        for name, each in zip(plain, arguments, strict=True)
    ]
    taken = {name for name in plain if counts[name] == 1}
    numbers: Counter[str] = Counter()
    names: list[str] = []
    for name, before in zip(wanted, plain, strict=True):
        names.append(name if counts[before] == 1 else _free(name, taken, numbers))
    return names


def _free(name: str, taken: set[str], numbers: Counter[str]) -> str:
    """`name`, with a number if it is in `taken`. It is then in `taken`."""
    found = name
    while found in taken:
        # The numbers go on, so that many equal names take no longer than others.
        numbers[name] += 1
        found = f"{name}_{numbers[name] + 1}"
    taken.add(found)
    return found


def collisions(parameters: Iterable[Argument], members: Iterable[str]) -> int:
    """The number of `members` of a body that collide with parameters or with one another."""
    taken = Counter(cleaned(each.name) for each in parameters)
    names = [cleaned(each) for each in members]
    taken.update(names)
    return sum(taken[name] > 1 for name in names)


def cleaned(name: str) -> str:
    """`name` with the characters that clients accept, and at most `MAX_MEMBER` of them."""
    found = _ILLEGAL.sub("_", name)
    if found != name:
        found = found.strip("_") or "value"
    if len(found) <= MAX_MEMBER - 12:
        return found
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{found[: MAX_MEMBER - 19]}_{digest}"


def _labelled(name: str, argument: Argument) -> Schema:
    """The schema of `argument`, which says the name on the wire if the caller's is another one."""
    if name == argument.name or not argument.name.isprintable():
        return argument.schema
    known = {} if isinstance(argument.schema, bool) else argument.schema
    if argument.schema is False:
        return False
    own = known.get("description", "")
    label = f"Sent as `{shortened(argument.name, MAX_MEMBER)}`."
    text = f"{shortened(own, _MAX_DESCRIPTION - len(label))} {label}" if own else label
    return {**known, "description": text}


def input_schema(
    arguments: Sequence[Argument], names: Sequence[str], needed: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The closed object schema of `arguments`. `needed` becomes `dependentRequired`."""
    pairs = list(zip(names, arguments, strict=True))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: _labelled(name, each) for name, each in pairs},
    }
    if required := [name for name, each in pairs if each.is_required]:
        schema["required"] = required
    if needed:
        schema["dependentRequired"] = {name: list(others) for name, others in needed.items()}
    return schema | {"additionalProperties": False}
