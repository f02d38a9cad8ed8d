"""What the served OpenAPI document says of an operation is so, whatever is sent to it.

Schemathesis generates right and wrong requests from it, of tools with contract files and of all
that the gateway has of its own. Each answer has a status, a media type, headers and a body that the
document describes, and is no error of the server; wrong requests are refused.
"""

from typing import Any, Final

import httpx
from hypothesis import given
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from gateway.testing.fixtures import Loop
from gateway.testing.gateways import Faces
from gateway.testing.generation import budget, operations_of

__all__ = ["test_each_answer_is_as_the_served_document_says"]

CHECKS: Final = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.missing_required_header,
    checks.unsupported_method,
]


async def answer(http: httpx.AsyncClient, case: Case[Any]) -> httpx.Response:
    """The answer to a generated request."""
    made: dict[str, Any] = case.as_transport_kwargs(base_url=str(http.base_url))
    body: dict[str, Any] = {name: made[name] for name in ("json", "data") if name in made}
    if isinstance(body.get("data"), bytes | str):
        body = {"content": body["data"]}
    query, headers = made.get("params"), made.get("headers")
    return await http.request(made["method"], made["url"], params=query, headers=headers, **body)


def test_each_answer_is_as_the_served_document_says(
    gateway_faces: Faces, gateway_loop: Loop, gateway_documented: str
) -> None:
    method, path = gateway_documented.split(" ")
    run, http = gateway_loop.run_until_complete, gateway_faces.http
    document = run(http.get("/openapi.json")).content
    operation = operations_of(gateway_faces.catalogue, document)[path][method]
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

        @budget()
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: Case[Any]) -> None:
            case.validate_response(run(answer(http, case)), checks=CHECKS)

        check()
