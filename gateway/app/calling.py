"""Calls of operations from inside the process: by its owner, by doctor, and for jobs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from gateway.auth.keys import ADMINISTRATOR
from gateway.auth.principal import Credentials, LocalIdentification
from gateway.calls.call import UNBOUNDED, Call, CallBounds
from gateway.calls.pipeline import Pipeline
from gateway.contract.values import jsontext
from gateway.errors import MalformedRequest
from gateway.store.records import NewCall


def local_call(
    operation_id: str, arguments: Mapping[str, Any], bounds: CallBounds = UNBOUNDED
) -> Call:
    """The call of a caller in this process. Raises `MalformedRequest`."""
    try:
        text = jsontext.encode(arguments)
    except (TypeError, ValueError, OverflowError) as error:
        raise MalformedRequest("The arguments are not a JSON object.") from error
    return Call(
        operation_id=operation_id,
        credentials=Credentials(),
        arguments=text,
        transport="local",
        request_id=uuid4().hex,
        bounds=bounds,
    )


class OwnCalls:
    """Runs calls as the administrator, through the pipeline of all transports."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._invoke = replace(pipeline, identification=LocalIdentification(ADMINISTRATOR)).invoke

    async def __call__(self, call: NewCall) -> None:
        """Raises a `GatewayError`."""
        await self._invoke(
            Call(
                operation_id=call.operation,
                credentials=Credentials(),
                arguments=jsontext.encode(call.arguments),
                transport="local",
                request_id=call.id,
            )
        )
