"""An operator's requests: who asks, what for, and what is written down before it is done."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from litestar import Request, Response
from msgspec import Struct

from gateway.audit.log import Act, AuditLog
from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification, Principal
from gateway.contract import jsontext
from gateway.contract.pointers import pointer_of
from gateway.contract.scopes import OPERATE
from gateway.errors import InvalidArguments, MalformedRequest, UnknownPath
from gateway.transports.asgi import request_id_of
from gateway.transports.credentials import credentials_of

AnyRequest: TypeAlias = Request[Any, Any, Any]
MAX_PAGE: Final = 200
_STEP: Final = re.compile(r"[A-Za-z0-9_]+")
"""A member or an index in msgspec's spelling of a place, `$.event_types[0]`."""
_QUOTED: Final = re.compile(r" '.*'$", re.DOTALL)
"""The value that msgspec repeats: an answer tells the mistake, and never what was sent."""
_T = TypeVar("_T")


class OperatorDesk(Struct, frozen=True):
    """Lets operators in, and keeps account of what they do."""

    identification: Identification
    policy: Policy
    audit: AuditLog

    async def admit(self, request: AnyRequest) -> Principal:
        """Who asks. Raises `Unauthenticated`, and `UnknownPath` to whoever is no operator."""
        scope: Any = request.scope
        principal = await self.identification.identify(credentials_of(scope))
        if not self.policy.allows(principal.agent, OPERATE):
            raise UnknownPath
        return principal

    async def record(
        self, request: AnyRequest, caller: Principal, operation: str, arguments: Mapping[str, Any]
    ) -> None:
        """Write down what is about to be done. Raises `NotRecorded`: then it must not be."""
        scope: Any = request.scope
        await self.audit.act(
            Act(
                request_id=request_id_of(scope),
                operation=operation,
                caller=caller,
                arguments=arguments,
            )
        )


def query_of(request: AnyRequest, form: type[_T]) -> _T:
    """The query parameters as `form`. Raises `InvalidArguments`."""
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise InvalidArguments.at(pointer_of([name]), "maxItems", "is given twice")
        if not value.isprintable():
            # No id, name or type holds one, and PostgreSQL cannot even be asked for a NUL.
            raise InvalidArguments.at(pointer_of([name]), "pattern", "holds control characters")
        given[name] = value
    return _converted(given, form, strict=False)


async def body_of(request: AnyRequest, form: type[_T]) -> _T:
    """The JSON body as `form`; no body is an empty object. Raises `InvalidArguments`."""
    text = await request.body()
    try:
        value = jsontext.decode(text) if text else {}
    except jsontext.NotJson as error:
        raise MalformedRequest(str(error)) from None
    return _converted(value, form, strict=True)


def answer(value: object, status: int = 200) -> Response[bytes]:
    """`value` as JSON."""
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")


def listed(items: Sequence[Mapping[str, Any]], limit: int) -> Response[bytes]:
    """A page, and the id that the next one begins after."""
    after = items[-1]["id"] if len(items) == limit else None
    return answer({"items": items, "next": after})


def _converted(value: object, form: type[_T], *, strict: bool) -> _T:
    try:
        return msgspec.convert(value, form, strict=strict)
    except msgspec.ValidationError as error:
        detail, _, place = str(error).partition(" - at `$")
        pointer = "".join(f"/{step}" for step in _STEP.findall(place))
        raise InvalidArguments.at(pointer, "type", _QUOTED.sub("", detail)) from None
