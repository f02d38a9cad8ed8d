"""Calls the gateway's own operations for jobs."""

from dataclasses import replace

from gateway.auth.keys import ADMINISTRATOR
from gateway.auth.local import LocalIdentification
from gateway.auth.principal import Credentials
from gateway.calls.call import Call
from gateway.calls.pipeline import Pipeline
from gateway.contract.values import jsontext
from gateway.store.records import NewCall


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
