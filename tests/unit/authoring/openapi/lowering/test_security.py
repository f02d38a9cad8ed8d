"""Security schemes and base URLs of documents, of paths and of operations."""

import pytest

from tests.unit.tables import each_of

SCHEMES = {
    "Key Header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "Basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "base_url": {"type": "http", "scheme": "bearer"},
    "digest": {"type": "http", "scheme": "digest"},
    "tls": {"type": "mutualTLS"},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://id.example/"},
    "service": {
        "type": "oauth2",
        "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {"read": ""}}},
    },
    "user": {
        "type": "oauth2",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": "https://id.example/a",
                "tokenUrl": "https://id.example/t",
                "scopes": {},
            }
        },
    },
    "browser": {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://x.example"}}},
}


@pytest.fixture
def secured(lowered):
    """Imports a document with these schemes and one operation."""

    def _secured(operation, general=None):
        document = {
            "servers": [{"url": "https://shop.example/v1"}],
            "components": {"securitySchemes": SCHEMES},
            "paths": {"/a": {"get": operation}},
        }
        if general is not None:
            document["security"] = general
        return lowered(document)

    return _secured


def names(outcome):
    """The slots of each alternative of the only operation."""
    (operation,) = outcome.connector.operations
    return [[use.slot for use in uses] for uses in operation.security]


def test_one_token_stands_for_all_schemes_that_are_sent_as_tokens(secured):
    needed = {"browser": ["read"], "Key Header": [], "user": ["write"], "bearer": []}
    outcome = secured({"security": [needed]})
    (operation,) = outcome.connector.operations
    assert [[(use.slot, use.scopes) for use in uses] for uses in operation.security] == [
        [("user", ("read", "write")), ("key_header", ())]
    ]
    assert [each.name for each in outcome.connector.slots] == ["key_header", "user"]
    assert "security/one-credential" in {each.rule for each in outcome.report.notes}


def test_two_kinds_of_credentials_in_one_place_are_refused(secured):
    outcome = secured({"security": [{"basic": [], "bearer": []}]})
    assert outcome.report.causes == {"security/same-place": 1}
    assert names(secured({"security": [{"basic": [], "bearer": []}, {"cookie": []}]})) == [
        ["cookie"]
    ]


def test_each_kind_of_scheme_has_its_slot(secured):
    used = [
        "Key Header",
        "cookie",
        "basic",
        "bearer",
        "base_url",
        "tls",
        "oidc",
        "service",
        "user",
        "browser",
    ]
    outcome = secured({"security": [{name: []} for name in used]})
    slots = {each.name: each for each in outcome.connector.slots}
    assert {name: each.kind for name, each in slots.items()} == {
        "key_header": "api_key",
        "cookie": "api_key",
        "basic": "basic",
        "bearer": "bearer",
        "base_url_2": "bearer",
        "tls": "mutual_tls",
        "oidc": "oauth2",
        "service": "oauth2",
        "user": "oauth2",
        "browser": "oauth2",
    }
    assert (slots["key_header"].location, slots["key_header"].key_name) == ("header", "X-Key")
    assert (slots["service"].flow, slots["service"].token_url) == (
        "client_credentials",
        "https://shop.example/token",
    )
    assert (slots["user"].flow, slots["user"].token_url) == (
        "refresh_token",
        "https://id.example/t",
    )


def test_and_and_or_are_kept(secured):
    requirement = [{"basic": [], "tls": []}, {"service": ["read"]}, {}]
    outcome = secured({"security": requirement})
    assert names(outcome) == [["basic", "tls"], ["service"], []]
    assert outcome.connector.operations[0].security[1][0].scopes == ("read",)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [({}, [["bearer"]]), ({"security": []}, []), ({"security": [{"basic": []}]}, [["basic"]])],
)
def test_an_operation_overrides_the_document(secured, operation, expected):
    assert names(secured(operation, general=[{"bearer": []}])) == expected


def test_slots_that_no_operation_uses_are_left_out(secured):
    (needed,) = secured({"security": [{"basic": []}]}).report.credentials
    assert needed.settings == ("GATEWAY_SHOP_BASIC_USERNAME", "GATEWAY_SHOP_BASIC_PASSWORD")
    assert secured({}).connector.slots == ()


def test_an_alternative_that_cannot_be_served_is_left_out_with_a_note(secured):
    outcome = secured({"security": [{"digest": []}, {"bearer": []}]})
    assert names(outcome) == [["bearer"]]
    assert "security/left-out" in {each.rule for each in outcome.report.notes}


@pytest.mark.parametrize(
    ("scheme", "rule"), [("digest", "security/scheme"), ("bearr", "security/unknown-scheme")]
)
def test_without_another_alternative_the_operation_is_refused(secured, scheme, rule):
    outcome = secured({"security": [{scheme: []}]})
    (refused,) = outcome.report.refused
    assert refused.finding.rule == rule


def test_the_alternative_without_a_credential_is_the_last_one(lowered):
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    operation = {"security": [{}, {"key": []}]}
    outcome = lowered(
        {"components": {"securitySchemes": schemes}, "paths": {"/a": {"get": operation}}}
    )
    (found,) = outcome.connector.operations
    assert [[use.slot for use in uses] for uses in found.security] == [["key"], []]


def test_a_document_without_schemes_is_served_without_credentials(lowered):
    paths = {"/a": {"get": {}}, "/b": {"get": {}}, "/c": {"get": {"security": [{"other": []}]}}}
    outcome = lowered({"security": [{"token": []}], "paths": paths})
    assert [each.security for each in outcome.connector.operations] == [(), (), ()]
    notes = [each for each in outcome.report.notes if each.rule == "security/unknown-scheme"]
    assert {each.pointer for each in notes} == {"/security", "/paths/~1c/get/security"}
    assert len(notes) == 2


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
