"""A collector of OpenTelemetry on a real socket."""

import gzip
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """What a collector has been sent."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.flush: Any = None
        """Stores the audit records of the gateway."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            kind = ""
            while kind != "lifespan.shutdown":
                kind = (await receive())["type"]
                await send({"type": f"{kind}.complete"})
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if dict(scope["headers"]).get(b"content-encoding") == b"gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest.FromString(body)
        for each in request.resource_spans:
            self.spans += [span for scoped in each.scope_spans for span in scoped.spans]
        headers = [(b"content-type", b"application/x-protobuf")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def facts(span: Any) -> dict[str, Any]:
    """The attributes of a span."""
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}
