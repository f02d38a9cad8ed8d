"""The served OpenAPI document of this repository, held against its answers."""

from datetime import timedelta

import httpx
import pytest
from hypothesis import Phase, find, settings
from schemathesis import GenerationMode
from schemathesis.core.failures import Failure, FailureGroup

from gateway.testing.gateways import catalogue_under_test
from gateway.testing.generation import operations_of
from gateway.testing.suite.openapi import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.openapi import CHECKS, answer


@pytest.mark.parametrize(
    ("mode", "status", "media_type", "body", "noticed"),
    [
        ("POSITIVE", 500, "application/problem+json", "{}", "ServerError"),
        ("POSITIVE", 418, "application/problem+json", "{}", "JsonSchemaError"),
        ("POSITIVE", 200, "text/html", "{}", "UndefinedContentType"),
        ("POSITIVE", 200, "application/json", '{"greeting": 1}', "JsonSchemaError"),
        ("NEGATIVE", 200, "application/json", '{"greeting": "Hi"}', "AcceptedNegativeData"),
    ],
)
async def test_an_answer_that_the_document_does_not_have_is_noticed(
    mode, status, media_type, body, noticed
) -> None:
    catalogue = catalogue_under_test()
    operation = operations_of(catalogue, catalogue.openapi)["/v1/example/greet"]["POST"]
    requests = operation.as_strategy(generation_mode=GenerationMode[mode])
    case = find(requests, lambda _: True, settings=settings(phases=[Phase.generate]))
    headers = {"content-type": media_type}
    wrong = httpx.MockTransport(lambda _: httpx.Response(status, headers=headers, text=body))
    async with httpx.AsyncClient(transport=wrong, base_url="http://localhost") as http:
        response = await answer(http, case)
    response.elapsed = timedelta()

    with pytest.raises((Failure, FailureGroup)) as found:
        case.validate_response(response, checks=CHECKS)

    failures = getattr(found.value, "exceptions", [found.value])
    assert noticed in {type(each).__name__ for each in failures}
