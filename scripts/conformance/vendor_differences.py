"""Compares our upstream contracts with the vendors' descriptions.

Our contracts are subsets on purpose: values that we neither send nor read are not differences. A
difference is a request that the vendor would reject, or a reply of the vendor that we would reject.
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
    """One difference, in words that are the same in each run."""

    upstream: str
    operation: str
    at: str
    what: str


class _Sides(Struct, frozen=True):
    """Both documents, and the direction of the values."""

    ours: Document
    vendor: Document
    direction: Direction


def differences(upstream: Upstream, documents: Sequence[Document]) -> Iterator[Difference]:
    """The differences by operation. Token operations are not part of the vendor's API."""
    tokens = {rule.operation for rule in upstream.tokens}
    base = urlsplit(upstream.base_url or "").path.rstrip("/")
    for operation in upstream.operations:
        if operation.id in tokens:
            continue
        found = _vendor_operation(operation, base, documents)
        if found is None:
            text = f"{operation.method} {operation.path} is not described there"
            yield Difference(upstream.name, operation.id, "operation", text)
            continue
        for at, what in _operation(operation, *found):
            yield Difference(upstream.name, operation.id, at, what)


def _vendor_operation(
    ours: UpstreamOperation, base: str, documents: Sequence[Document]
) -> tuple[Document, Operation] | None:
    """The vendor's operation for one of ours; of several, the one with fewest parameters."""
    found = [
        (vendor.path.count("{"), index, vendor)
        for index, document in enumerate(documents)
        for vendor in document.operations
        if vendor.method == ours.method and _reaches(f"{base}{ours.path}", vendor.path)
    ]
    if not found:
        return None
    _, index, vendor = min(found, key=lambda each: each[:2])
    return documents[index], vendor


def _reaches(ours: str, vendor: str) -> bool:
    """Whether our path template is the vendor's, or the vendor's with some parameters filled in."""
    pattern = "".join(
        re.escape(part) if index % 2 == 0 else r"[^/]+" for index, part in enumerate(_split(vendor))
    )
    return re.fullmatch(pattern, ours) is not None and ours.count("/") == vendor.count("/")


def _split(path: str) -> Iterator[str]:
    """Plain text and placeholders, alternating."""
    end = 0
    for found in _PLACEHOLDER.finditer(path):
        yield path[end : found.start()]
        yield found[0]
        end = found.end()
    yield path[end:]


def _operation(
    operation: UpstreamOperation, document: Document, vendor: Operation
) -> Iterator[tuple[str, str]]:
    # A contract's schemas are self-contained: references point into the same schema.
    yield from _parameters(operation, document, vendor)
    if operation.request_schema is not None and vendor.request is None:
        yield "request", "has a body here, none there"
    elif operation.request_schema is not None and vendor.request is not None:
        sides = _Sides(_alone(operation.request_schema), document, "sent")
        yield from _schemas(sides, operation.request_schema, vendor.request, "request")
    for status, schema in operation.replies.items():
        if not status.startswith("2"):
            continue
        reply = vendor.replies.get(status, vendor.replies.get("2XX"))
        if schema is not None and reply is None:
            yield f"reply {status}", "has a body here, none there"
        elif schema is not None and reply is not None:
            sides = _Sides(_alone(schema), document, "read")
            yield from _schemas(sides, schema, reply, f"reply {status}")


def _parameters(
    operation: UpstreamOperation, document: Document, vendor: Operation
) -> Iterator[tuple[str, str]]:
    ours = _our_parameters(operation)
    for (place, name), parameter in ours.items():
        vendor_shape = vendor.parameters.get((place, name))
        at = f"{place} {name}"
        if place == "path":
            continue
        if vendor_shape is None:
            yield at, "is a parameter here, none there"
            continue
        if parameter.is_required is not vendor_shape.is_required:
            yield at, _optionality(parameter.is_required)
        sides = _Sides(_alone(parameter.schema), document, "sent")
        yield from _schemas(sides, parameter.schema, vendor_shape.schema, at)
    for (place, name), parameter in vendor.parameters.items():
        if place != "path" and parameter.is_required and (place, name) not in ours:
            yield f"{place} {name}", "is left out here, required there"


def _our_parameters(operation: UpstreamOperation) -> Mapping[tuple[str, str], Parameter]:
    return {
        (each["in"], each["name"]): Parameter(each.get("required", False), each.get("schema", {}))
        for each in operation.parameters
    }


def _schemas(sides: _Sides, ours: Node, vendor: Node, at: str) -> Iterator[tuple[str, str]]:
    # Our schema determines the recursion and is not recursive, so this ends even if the vendor's
    # is.
    our_shape, vendor_shape = sides.ours.shape(ours), sides.vendor.shape(vendor)
    yield from _types(sides.direction, our_shape, vendor_shape, at)
    yield from _values(sides.direction, our_shape, vendor_shape, at)
    for name, node in our_shape.members.items():
        if name in vendor_shape.members:
            yield from _schemas(sides, node, vendor_shape.members[name], _inside(at, name))
        elif vendor_shape.members:
            yield _inside(at, name), "is a member here, none there"
    yield from _needs(sides.direction, our_shape, vendor_shape, at)
    if our_shape.items is not None and vendor_shape.items is not None:
        yield from _schemas(sides, our_shape.items, vendor_shape.items, _inside(at, "*"))


def _needs(
    direction: Direction, our_shape: Shape, vendor_shape: Shape, at: str
) -> Iterator[tuple[str, str]]:
    """In a reply, we may require less than the vendor guarantees, never more."""
    differing = our_shape.required - vendor_shape.required
    if direction == "sent":
        differing |= vendor_shape.required - our_shape.required
    for name in sorted(differing & vendor_shape.members.keys()):
        yield _inside(at, name), _optionality(name in our_shape.required)


def _inside(at: str, step: str) -> str:
    """`reply 200` and `/a` give `reply 200 /a`; the next step gives `reply 200 /a/b`."""
    return f"{at}/{step}" if " /" in at else f"{at} /{step}"


def _optionality(is_required_here: bool) -> str:
    return (
        f"is {'required here, optional' if is_required_here else 'optional here, required'} there"
    )


def _types(
    direction: Direction, our_shape: Shape, vendor_shape: Shape, at: str
) -> Iterator[tuple[str, str]]:
    sent, admitted = (our_shape, vendor_shape) if direction == "sent" else (vendor_shape, our_shape)
    is_wider = admitted.types is not None and (
        sent.types is None or any(not _is_among(name, admitted.types) for name in sent.types)
    )
    if is_wider:
        yield at, f"is {_types_text(our_shape)} here, {_types_text(vendor_shape)} there"


def _is_among(name: str, types: frozenset[str]) -> bool:
    return name in types or (name == "integer" and "number" in types)


def _values(
    direction: Direction, our_shape: Shape, vendor_shape: Shape, at: str
) -> Iterator[tuple[str, str]]:
    sent, admitted = (our_shape, vendor_shape) if direction == "sent" else (vendor_shape, our_shape)
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
    """A document that resolves the schema's own references."""

    def target(reference: str) -> Any:
        found: Any = schema
        for step in reference.removeprefix("#").split("/")[1:]:
            found = found[step.replace("~1", "/").replace("~0", "~")]
        return found

    return Document((), target)
