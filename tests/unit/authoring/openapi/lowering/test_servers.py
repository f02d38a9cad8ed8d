"""Base URLs of the document, of paths and of operations."""

import pytest

from tests.unit.tables import each_of

DOCUMENT = {"paths": {"/a": {"get": {}}}}


def test_the_first_server_is_used_with_the_defaults_of_its_variables(lowered):
    server = {
        "url": "https://{region}.shop.example/{v}/",
        "variables": {"region": {"default": "eu"}, "v": {"default": "v2"}},
    }
    outcome = lowered({**DOCUMENT, "servers": [server, {"url": "https://other.example"}]})
    assert outcome.connector.base_url == "https://eu.shop.example/v2"


def test_a_relative_server_is_relative_to_the_source(lowered):
    servers = {"servers": [{"url": "../v3"}]}
    source = "https://shop.example/docs/openapi.json"
    outcome = lowered({**DOCUMENT, **servers}, source=source)
    assert outcome.connector.base_url == "https://shop.example/v3"
    without = lowered({**DOCUMENT, **servers})
    assert without.connector.base_url is None
    assert "server/relative" in {each.rule for each in without.report.notes}


def test_import_yaml_has_precedence(lowered):
    servers = [{"url": "https://shop.example"}]
    outcome = lowered({**DOCUMENT, "servers": servers}, base_url="https://test.example/")
    assert outcome.connector.base_url == "https://test.example"
    assert outcome.connector.operations[0].server is None


def test_an_operation_and_a_path_may_have_their_own_server(lowered):
    outcome = lowered(
        {
            "servers": [{"url": "https://shop.example"}],
            "paths": {
                "/a": {
                    "servers": [{"url": "https://path.example"}],
                    "get": {},
                    "post": {"servers": [{"url": "https://upload.example/x"}]},
                    "put": {"servers": [{"url": "https://shop.example/"}]},
                }
            },
        }
    )
    servers = {each.method: each.server for each in outcome.connector.operations}
    assert servers == {
        "GET": "https://path.example",
        "POST": "https://upload.example/x",
        "PUT": None,
    }


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/v2", "https://shop.example/v2"),
        ("v2/", "https://shop.example/api/v2"),
        ("../v2", "https://shop.example/v2"),
        ("//other.example/v2", "https://other.example/v2"),
        ("/api", None),
    ],
)
def test_a_relative_server_of_an_operation_is_relative_to_the_given_base(lowered, url, expected):
    base, servers = "https://shop.example/api/", [{"url": url}]
    of_operation = lowered({"paths": {"/a": {"get": {"servers": servers}}}}, base_url=base)
    of_path = lowered({"paths": {"/a": {"get": {}, "servers": servers}}}, base_url=base)
    for outcome in (of_operation, of_path):
        assert outcome.connector.base_url == "https://shop.example/api"
        assert outcome.connector.operations[0].server == expected


def test_a_relative_server_without_a_base_is_refused(lowered):
    document = {"paths": {"/a": {"get": {"servers": [{"url": "/v2"}]}}}}
    document["servers"] = [{"url": "https://shop.example"}]
    assert lowered(document).report.causes == {"server/relative": 1}


def test_the_same_relative_server_is_that_of_the_document(lowered):
    paths = {"/a": {"get": {"servers": [{"url": "/"}]}}}
    assert lowered({"paths": paths}).report.served == 1
    other = {"/a": {"get": {"servers": [{"url": "/other"}]}}}
    assert lowered({"paths": other}).report.causes == {"server/relative": 1}


@each_of(
    "url",
    [
        "ftp://shop.example",
        "https://me:secret@shop.example",
        "https://shop.example?key=1",
        "https://169.254.169.254/latest",
        "https://shop.example/a b",
        "https://[bad",
        "https://{unknown}.example",
    ],
)
def test_a_server_that_requests_may_not_be_sent_to_is_refused(lowered, url):
    paths = {"/a": {"get": {"servers": [{"url": url}]}}}
    outcome = lowered({"paths": paths, "servers": [{"url": "https://shop.example"}]})
    (cause,) = outcome.report.causes
    assert cause.startswith("server/")
    assert "secret" not in str(outcome.report.refused)
    assert lowered({**DOCUMENT, "servers": [{"url": url}]}).connector.base_url is None
