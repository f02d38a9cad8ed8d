"""What an operator sees and does of endpoints: `/operator/endpoints`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Protocol

import msgspec
from litestar import Response, delete, get, post
from litestar.handlers import HTTPRouteHandler
from msgspec import Meta, Struct

from gateway.errors import UnknownPath
from gateway.store.records import Delivery, Endpoint, JobState, Page
from gateway.transports.operator_requests import (
    MAX_PAGE,
    AnyRequest,
    OperatorDesk,
    answer,
    body_of,
    query_of,
)

_HIDDEN: Final = ("secret", "previous_secret")
_Path: Final = "/operator/endpoints/{endpoint_id:str}"


class NewEndpoint(Struct, frozen=True, forbid_unknown_fields=True):
    """An endpoint to be."""

    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    event_types: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...], Meta(max_length=50)
    ] = ()
    description: Annotated[str, Meta(max_length=500)] = ""


class Rotation(Struct, frozen=True, forbid_unknown_fields=True):
    """How long the old secret goes on."""

    grace_seconds: Annotated[float, Meta(ge=0, le=604_800)] = 86_400


class DeliveryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which deliveries to list."""

    state: JobState | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 50
    after: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
