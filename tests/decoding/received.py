"""An encoded request as a server receives it, decoded again; and when two values are the same."""

from collections.abc import Mapping
from typing import Any

from gateway.contract.imported import ImportedOperation
from gateway.contract.upstream import EncodedRequest
from tests.decoding.decode import Decoder
from tests.decoding.schemas import Schemas


def received(
    operation: ImportedOperation, request: EncodedRequest, definitions: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments that a server reads from `request`."""
    headers = list(request.headers)
    if request.media_type is not None:
        headers.append(("Content-Type", request.media_type))
    body = None if request.media_type is None else request.body
    return Decoder(operation, Schemas(definitions)).decode(request.target, headers, body)


def is_same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        is_whole = isinstance(left, int) and isinstance(right, int)
        return left == right if is_whole else float(left) == float(right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_same(left[key], right[key]) for key in left)
    return bool(left == right)
