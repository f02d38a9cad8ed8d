"""Where one of our upstream contracts differs from its vendor's description.

Ours is a part of theirs by intention: what we neither send nor read is no difference. A difference
is what the vendor would not understand, and what the vendor may send and we would not admit.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct
from vendor_documents import Document, Node, Operation, Parameter, Shape

from gateway.contract.upstream import Upstream, UpstreamOperation

_PLACEHOLDER: Final = re.compile(r"\{[^}]*\}")
Direction = Literal["sent", "read"]


class Difference(Struct, frozen=True, order=True):
    """One difference, in words that stay the same from run to run."""

    upstream: str
    operation: str
    at: str
    what: str


class _Sides(Struct, frozen=True):
    """Both documents, and which way the values go."""

    ours: Document
    theirs: Document
    direction: Direction


def differences(upstream: Upstream, documents: Sequence[Document]) -> Iterator[Difference]:
    """What differs, operation by operation; token operations are not the vendor's API."""
    tokens = {rule.operation for rule in upstream.tokens}
    base = urlsplit(upstream.base_url or "").path.rstrip("/")
    for operation in upstream.operations:
        if operation.id in tokens:
            continue
        found = _theirs(operation, base, documents)
        if found is None:
            text = f"{operation.method} {operation.path} is not described there"
            yield Difference(upstream.name, operation.id, "operation", text)
            continue
        for at, what in _operation(operation, *found):
            yield Difference(upstream.name, operation.id, at, what)


def _theirs(
    ours: UpstreamOperation, base: str, documents: Sequence[Document]
) -> tuple[Document, Operation] | None:
    """The operation that a request of ours reaches; of several, the one with fewest parameters."""
    found = [
        (theirs.path.count("{"), index, theirs)
        for index, document in enumerate(documents)
        for theirs in document.operations
        if theirs.method == ours.method and _reaches(f"{base}{ours.path}", theirs.path)
    ]
    if not found:
        return None
    _, index, theirs = min(found, key=lambda each: each[:2])
    return documents[index], theirs


def _reaches(ours: str, theirs: str) -> bool:
    """Whether our template is theirs, or theirs with some places filled in."""
    pattern = "".join(
        re.escape(part) if index % 2 == 0 else r"[^/]+" for index, part in enumerate(_split(theirs))
    )
    return re.fullmatch(pattern, ours) is not None and ours.count("/") == theirs.count("/")


def _split(path: str) -> Iterator[str]:
    """Plain text and placeholders by turns."""
    end = 0
    for found in _PLACEHOLDER.finditer(path):
        yield path[end : found.start()]
        yield found[0]
        end = found.end()
    yield path[end:]


def _operation(
    operation: UpstreamOperation, document: Document, theirs: Operation
) -> Iterator[tuple[str, str]]:
    # A contract's schemas are self-contained: a reference leads into the schema that holds it.
    yield from _parameters(operation, document, theirs)
    if operation.request_schema is not None and theirs.request is None:
        yield "request", "has a body here, none there"
    elif operation.request_schema is not None and theirs.request is not None:
        sides = _Sides(_alone(operation.request_schema), document, "sent")
        yield from _schemas(sides, operation.request_schema, theirs.request, "request")
    for status, schema in operation.replies.items():
        if not status.startswith("2"):
            continue
        reply = theirs.replies.get(status, theirs.replies.get("2XX"))
        if schema is not None and reply is None:
            yield f"reply {status}", "has a body here, none there"
        elif schema is not None and reply is not None:
            sides = _Sides(_alone(schema), document, "read")
            yield from _schemas(sides, schema, reply, f"reply {status}")


def _parameters(
    operation: UpstreamOperation, document: Document, theirs: Operation
) -> Iterator[tuple[str, str]]:
    ours = _our_parameters(operation)
    for (place, name), parameter in ours.items():
        there = theirs.parameters.get((place, name))
        at = f"{place} {name}"
        if place == "path":
            continue
        if there is None:
            yield at, "is a parameter here, none there"
            continue
        if parameter.is_required is not there.is_required:
            yield at, _optionality(parameter.is_required)
        sides = _Sides(_alone(parameter.schema), document, "sent")
        yield from _schemas(sides, parameter.schema, there.schema, at)
    for (place, name), parameter in theirs.parameters.items():
        if place != "path" and parameter.is_required and (place, name) not in ours:
            yield f"{place} {name}", "is left out here, required there"


def _our_parameters(operation: UpstreamOperation) -> Mapping[tuple[str, str], Parameter]:
    return {
        (each["in"], each["name"]): Parameter(each.get("required", False), each.get("schema", {}))
        for each in operation.parameters
    }


def _schemas(sides: _Sides, ours: Node, theirs: Node, at: str) -> Iterator[tuple[str, str]]:
    # Ours says where to look and never leads back to itself, so this ends though theirs may not.
    here, there = sides.ours.shape(ours), sides.theirs.shape(theirs)
    yield from _types(sides.direction, here, there, at)
    yield from _values(sides.direction, here, there, at)
    for name, node in here.members.items():
        if name in there.members:
            yield from _schemas(sides, node, there.members[name], _inside(at, name))
        elif there.members:
            yield _inside(at, name), "is a member here, none there"
    yield from _needs(sides.direction, here, there, at)
    if here.items is not None and there.items is not None:
        yield from _schemas(sides, here.items, there.items, _inside(at, "*"))


def _needs(direction: Direction, here: Shape, there: Shape, at: str) -> Iterator[tuple[str, str]]:
    """Of a reply we may ask for less than the vendor promises, never for more."""
    differing = here.required - there.required
    if direction == "sent":
        differing |= there.required - here.required
    for name in sorted(differing & there.members.keys()):
        yield _inside(at, name), _optionality(name in here.required)


def _inside(at: str, step: str) -> str:
    """`reply 200` and `/a` are one place, `reply 200 /a`; the next step makes it `/a/b`."""
    return f"{at}/{step}" if " /" in at else f"{at} /{step}"


def _optionality(is_required_here: bool) -> str:
    return (
        f"is {'required here, optional' if is_required_here else 'optional here, required'} there"
    )


def _types(direction: Direction, here: Shape, there: Shape, at: str) -> Iterator[tuple[str, str]]:
    sent, admitted = (here, there) if direction == "sent" else (there, here)
    is_wider = admitted.types is not None and (
        sent.types is None or any(not _is_among(name, admitted.types) for name in sent.types)
    )
    if is_wider:
        yield at, f"is {_types_text(here)} here, {_types_text(there)} there"


def _is_among(name: str, types: frozenset[str]) -> bool:
    return name in types or (name == "integer" and "number" in types)


def _values(direction: Direction, here: Shape, there: Shape, at: str) -> Iterator[tuple[str, str]]:
    sent, admitted = (here, there) if direction == "sent" else (there, here)
    if admitted.values is None or (sent.values is None and direction == "sent"):
        return
    if sent.values is None:
        yield at, f"is one of {_listed(admitted.values)} here, any there"
        return
    surplus = [value for value in sent.values if value not in admitted.values]
    if surplus:
        yield at, f"may be {_listed(surplus)} {'here' if direction == 'sent' else 'there'} only"


def _types_text(shape: Shape) -> str:
    return "any" if shape.types is None else " or ".join(sorted(shape.types))


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(sorted(map(str, values)))


def _alone(schema: Node) -> Document:
    """A schema that holds what its references name."""

    def target(reference: str) -> Any:
        found: Any = schema
        for step in reference.removeprefix("#").split("/")[1:]:
            found = found[step.replace("~1", "/").replace("~0", "~")]
        return found

    return Document((), target)
