"""Operations for the tests of the encoder."""

from collections.abc import Sequence
from typing import Any

from gateway.contract.imported import (
    ImportedBody,
    ImportedOperation,
    ImportedParameter,
    ImportedReply,
)
from gateway.contract.operation import Effect
from gateway.contract.upstream import EncodedRequest
from gateway.encoding.encoder import Encoder


def operation(
    *parameters: ImportedParameter,
    path: str = "/things",
    sends: ImportedBody | None = None,
    replies: Sequence[ImportedReply] = (),
    **schemas: Any,
) -> ImportedOperation:
    """An operation with these parameters, and the schema of each member of its arguments."""
    return ImportedOperation(
        id="vendor.thing",
        tool="thing",
        title="Thing",
        description="A thing.",
        effect=Effect.WRITE,
        is_idempotent=False,
        pointer="/paths/~1things/post",
        method="POST",
        path=path,
        input_schema={
            "type": "object",
            "properties": schemas,
            "required": [each.member for each in parameters if each.is_required],
            "additionalProperties": False,
        },
        parameters=parameters,
        body=sends,
        replies=tuple(replies),
    )


def query(name: str, style: str = "form", *, explode: bool = True, **more: Any) -> Any:
    """A query parameter, whose member has its name."""
    return ImportedParameter(
        member=name, name=name, location="query", style=style, explode=explode, **more
    )


def in_path(name: str, style: str = "simple", *, explode: bool = False, **more: Any) -> Any:
    """A path parameter, whose member has its name."""
    return ImportedParameter(
        member=name,
        name=name,
        location="path",
        style=style,
        explode=explode,
        is_required=True,
        **more,
    )


def header(name: str, *, explode: bool = False, **more: Any) -> Any:
    """A header parameter, whose member has its name."""
    return ImportedParameter(member=name, name=name, location="header", explode=explode, **more)


def cookie(name: str, style: str = "form", *, explode: bool = True, **more: Any) -> Any:
    """A cookie parameter, whose member has its name."""
    return ImportedParameter(
        member=name, name=name, location="cookie", style=style, explode=explode, **more
    )


def encoded(own: ImportedOperation, **arguments: Any) -> EncodedRequest:
    """The request of the operation for these arguments."""
    return Encoder(own).encode(arguments)
