"""An imported document, from `gateway import` to the vendor's server and back."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import Struct

from tests.gateway_process import RunningGateway, run_gateway, running_gateway
from tests.recording import Vendor, recording_vendor

DOCUMENT = Path(__file__).parents[1] / "assets" / "documents" / "pets.yaml"
ITS_OWN = {"GATEWAY_SCHEMAS": ""}
"""The project is the folder in which the command runs."""
SERVED = {
    f"pets_{name}" for name in ("list_pets", "create_pet", "get_pet", "replace_pet", "get_photo")
}


REPLIES = {
    "GET pets": (200, "application/json", b'[{"id": 1, "name": "Rex"}]'),
    "POST pets": (201, "application/json; charset=utf-8", b'{"id": 2, "name": "Ada", "tag": null}'),
    "GET missing": (404, "text/plain", b"no such pet:\xe2\x80\xae sold"),
    "GET teapot": (418, "text/plain", b"short and stout"),
    "GET broken": (200, "application/json", b'{"id": "one", "name": "Rex"}'),
    "GET odd": (422, "application/json", b'{"message": "id must be even", "at": "/id"}'),
    "GET page": (404, "text/html", b"<h1>Not found</h1>"),
    "PUT taken": (409, "application/json", b'{"message": "name is taken: Ada"}'),
    "PUT wild": (409, "application/json", b'{"errors": [{"title": "taken"}]}'),
    "PUT done": (200, "application/json", b'{"id": "one", "name": "Ada"}'),
    "GET photo": (200, "image/png", b"\x89PNG"),
}
"""By method and last segment of the path."""


def answer_to(method: str, path: str) -> tuple[int, str, bytes]:
    """The reply by the last segment of the path: the test chooses what the vendor answers."""
    last = path.partition("?")[0].rpartition("/")[2]
    return REPLIES.get(f"{method} {last}", (200, "application/json", b'{"id": 1, "name": "Rex"}'))


class Site(Struct, frozen=True):
    """A gateway that serves the imported document."""

    gateway: RunningGateway
    vendor: Vendor
    other: Vendor

    def rest(
        self, tool: str, arguments: dict[str, Any], accept: str | None = None
    ) -> httpx.Response:
        """Call `tool` over REST."""
        headers = self.gateway.authorization | ({"accept": accept} if accept else {})
        url = f"{self.gateway.url}/v1/pets/{tool}"
        return httpx.post(url, json=arguments, headers=headers)

    def audited(self, request_id: str) -> dict[str, Any]:
        """The audit record of a request."""
        folder = self.gateway.data
        found = json.loads(run_gateway(folder, "audit", "list", "--data", ".", "--json"))
        records: list[dict[str, Any]] = found["items"]
        return next(each for each in records if each["request_id"] == request_id)

    def mcp(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of an MCP request."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        accept = {"accept": "application/json, text/event-stream"}
        revision = {"mcp-protocol-version": "2025-06-18"}
        headers = self.gateway.authorization | accept | revision
        found = httpx.post(f"{self.gateway.url}/mcp", json=message, headers=headers).json()
        result: dict[str, Any] = found["result"]
        return result


@pytest.fixture(scope="module")
def vendors() -> Iterator[tuple[Vendor, Vendor]]:
    with recording_vendor(answer_to) as own, recording_vendor(answer_to) as other:
        yield own, other


@pytest.fixture(scope="module")
def project(
    tmp_path_factory: pytest.TempPathFactory,
    vendors: tuple[Vendor, Vendor],
    new_initial: Callable[[Path], Path],
) -> Path:
    """A project with the imported document."""
    folder = tmp_path_factory.mktemp("importing")
    own, other = vendors
    document = folder / "vendor.yaml"
    document.write_text(DOCUMENT.read_text().replace("VENDOR", own.url).replace("OTHER", other.url))
    new_initial(folder / "project")
    run_gateway(folder / "project", "import", str(document), "--as", "pets", environment=ITS_OWN)
    run_gateway(folder / "project", "generate", environment=ITS_OWN)
    return folder / "project"


def environment(project: Path, **more: str) -> dict[str, str]:
    return {
        "GATEWAY_SCHEMAS": str(project / "schemas"),
        "GATEWAY_ALLOW_PLAIN_HTTP": "true",
        "GATEWAY_PETS_KEY": "k1",
        **more,
    }


@pytest.fixture(scope="module")
def site(project: Path, vendors: tuple[Vendor, Vendor], tmp_path_factory: Any) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("data")
    with running_gateway(data, environment=environment(project)) as gateway:
        yield Site(gateway, *vendors)


def test_what_is_generated_and_imported_is_fresh(project: Path) -> None:
    run_gateway(project, "generate", "--check", environment=ITS_OWN)
    run_gateway(project, "import", "--check", "--as", "pets", environment=ITS_OWN)


@pytest.mark.parametrize(
    ("tool", "row"),
    [
        ("get_pet", "200     application/json  id, name, tag"),
        ("delete_pet", "204                 no members"),
    ],
)
def test_a_tool_is_shown_with_its_results(project: Path, tool: str, row: str) -> None:
    shown = run_gateway(project, "tools", "show", f"pets.{tool}", environment=ITS_OWN)
    assert row in shown.splitlines()


def test_a_tool_is_listed_exactly_when_it_is_callable(site: Site) -> None:
    listed = {tool["name"] for tool in site.mcp("tools/list", {})["tools"]}
    assert {name for name in listed if name.startswith("pets_")} == SERVED
    before = len(site.vendor.received)
    refused = site.rest("delete_pet", {"id": "1"})
    assert refused.status_code == 404
    assert refused.json()["code"] == "TOOL_NOT_FOUND"
    assert len(site.vendor.received) == before


def test_a_call_reaches_the_vendor_as_the_document_says(site: Site) -> None:
    arguments = {"tags": ["a,b", "c"], "filter": {"name": "x y"}, "lang": "de"}
    result = site.rest("list_pets", arguments)
    assert result.json() == {"result": [{"id": 1, "name": "Rex"}]}
    sent = site.vendor.received[-1]
    assert sent.line == "GET /api/pets?tags=a%2Cb,c&filter%5Bname%5D=x%20y"
    assert sent.headers["x-key"] == "k1"
    assert sent.headers["cookie"] == "lang=de"


def test_a_body_reaches_the_vendor_and_null_stays_null(site: Site) -> None:
    result = site.rest("create_pet", {"name": "Ada", "tag": None})
    assert result.json() == {"id": 2, "name": "Ada", "tag": None}
    assert json.loads(site.vendor.received[-1].body) == {"name": "Ada", "tag": None}


@pytest.mark.parametrize(
    ("tool", "arguments", "pointer"),
    [
        ("create_pet", {"id": 1, "name": "Ada"}, "/id"),
        ("create_pet", {}, "/name"),
        ("list_pets", {"tags": "a"}, "/tags"),
        ("get_pet", {"id": 1}, "/id"),
    ],
)
def test_arguments_that_break_the_document_are_not_sent(
    site: Site, tool: str, arguments: dict[str, Any], pointer: str
) -> None:
    before = len(site.vendor.received)
    over_rest = site.rest(tool, arguments).json()
    over_mcp = site.mcp("tools/call", {"name": f"pets_{tool}", "arguments": arguments})
    assert [each["pointer"] for each in over_rest["errors"]] == [pointer]
    problem = over_mcp["_meta"]["contract-gateway/problem"]
    assert problem["errors"] == over_rest["errors"]
    assert len(site.vendor.received) == before


def test_rest_and_mcp_give_the_same_result(site: Site) -> None:
    over_mcp = site.mcp("tools/call", {"name": "pets_get_pet", "arguments": {"id": "1"}})
    assert over_mcp["structuredContent"] == site.rest("get_pet", {"id": "1"}).json()
    assert "isError" not in over_mcp or over_mcp["isError"] is False


DECLARED = "TOOL_EXECUTION_ERROR"
REJECTED = "UPSTREAM_REJECTED"


@pytest.mark.parametrize(
    ("id_", "status", "code", "detail", "upstream"),
    [
        (
            "missing",
            404,
            DECLARED,
            'There is no such pet. The upstream says: "no such pet: sold"',
            {"status": 404, "declared": False, "text": "no such pet: sold"},
        ),
        (
            "odd",
            422,
            DECLARED,
            'Invalid. The upstream says: "id must be even"',
            {
                "status": 422,
                "declared": True,
                "body": {"message": "id must be even", "at": "/id"},
            },
        ),
        ("page", 404, DECLARED, "There is no such pet.", {"status": 404, "declared": False}),
        (
            "teapot",
            422,
            REJECTED,
            'The upstream answered 418. The upstream says: "short and stout"',
            {"status": 418, "declared": False, "text": "short and stout"},
        ),
        ("broken", 502, "TRANSPORT_ERROR", "The upstream's answer breaks its contract.", None),
    ],
)
def test_a_refused_call_says_what_the_upstream_said(
    site: Site, id_: str, status: int, code: str, detail: str, upstream: object
) -> None:
    """Over REST and MCP, and to the operator."""
    answer = site.rest("get_pet", {"id": id_})
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert (problem["detail"], problem.get("upstream")) == (detail, upstream)
    over_mcp = site.mcp("tools/call", {"name": "pets_get_pet", "arguments": {"id": id_}})
    told = over_mcp["_meta"]["contract-gateway/problem"]
    assert over_mcp["isError"] is True
    assert json.loads(over_mcp["content"][0]["text"]) == told
    assert {**told, "request_id": None} == {**problem, "request_id": None}
    record = site.audited(problem["request_id"])
    assert record["detail"].startswith(detail)


@pytest.mark.parametrize(
    ("id_", "declared", "detail"),
    [
        ("taken", True, 'answered 409. The upstream says: "name is taken: Ada"'),
        ("wild", False, 'answered 409. The upstream says: "taken"'),
    ],
)
def test_a_default_error_is_the_declared_error_that_it_is(
    site: Site, id_: str, declared: bool, detail: str
) -> None:
    problem = site.rest("replace_pet", {"id": id_, "name": "Ada"}).json()
    assert (problem["status"], problem["code"]) == (422, REJECTED)
    assert problem["upstream"]["declared"] is declared
    assert problem["detail"].endswith(detail)


def test_a_write_whose_answer_breaks_the_document_says_that_it_has_happened(site: Site) -> None:
    problem = site.rest("replace_pet", {"id": "done", "name": "Ada"}).json()
    assert (problem["status"], problem["retryable"]) == (502, False)
    assert problem["detail"].endswith("The call has happened: do not repeat it.")
    assert [each["pointer"] for each in problem["errors"]] == ["/id"]
    assert problem["upstream"]["body"] == {"id": "one", "name": "Ada"}
    record = site.audited(problem["request_id"])
    assert "/id: " in record["detail"]


PHOTO = b"\x89PNG"
AS_JSON = {"content_type": "image/png", "size": 4, "data": "iVBORw=="}


@pytest.mark.parametrize("accept", [None, "*/*", "image/*", "image/png, application/json"])
def test_a_file_is_its_bytes_over_rest_and_no_browser_renders_it(
    site: Site, accept: str | None
) -> None:
    answer = site.rest("get_photo", {"id": "photo"}, accept)
    assert (answer.status_code, answer.content) == (200, PHOTO)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-length"] == "4"
    assert answer.headers["content-disposition"] == "attachment"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"


def test_a_file_is_json_for_a_client_that_only_accepts_that(site: Site) -> None:
    answer = site.rest("get_photo", {"id": "photo"}, "application/json")
    assert (answer.headers["content-type"], answer.json()) == ("application/json", AS_JSON)
    call = {"name": "pets.get_photo", "arguments": {"id": "photo"}}
    url = f"{site.gateway.url}/tools/execute"
    executed = httpx.post(url, json=call, headers=site.gateway.authorization)
    assert executed.json()["result"] == AS_JSON


@pytest.mark.parametrize(("tool", "accept"), [("get_photo", "text/csv"), ("get_pet", "image/png")])
def test_a_client_that_accepts_no_possible_result_is_refused_before_the_call(
    site: Site, tool: str, accept: str
) -> None:
    before = len(site.vendor.received), len(site.other.received)
    assert site.rest(tool, {"id": "photo"}, accept).status_code == 406
    assert (len(site.vendor.received), len(site.other.received)) == before


def test_a_file_is_an_image_over_mcp(site: Site) -> None:
    result = site.mcp("tools/call", {"name": "pets_get_photo", "arguments": {"id": "photo"}})
    assert result["structuredContent"] == {"content_type": "image/png", "size": 4}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    image = {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
    assert result["content"][1:] == [image]


def test_the_published_document_says_that_it_is_a_file(site: Site) -> None:
    url = f"{site.gateway.url}/openapi.json"
    document = httpx.get(url, headers=site.gateway.authorization).json()
    content = document["paths"]["/v1/pets/get_photo"]["post"]["responses"]["200"]["content"]
    assert set(content) == {"application/json", "image/png"}


@pytest.mark.parametrize("id_", ["..", ".", "", "a/b"])
def test_an_argument_cannot_leave_its_path_segment(site: Site, id_: str) -> None:
    before = len(site.vendor.received)
    answer = site.rest("get_pet", {"id": id_})
    if id_ == "a/b":
        assert site.vendor.received[-1].line == "GET /api/pets/a%2Fb"
    else:
        assert answer.status_code in {400, 422}
        assert len(site.vendor.received) == before


def test_an_operation_with_its_own_server_goes_there_without_credentials(site: Site) -> None:
    before = len(site.vendor.received)
    site.rest("get_photo", {"id": "photo"})
    assert site.other.received[-1].line == "GET /photos/photo"
    assert "x-key" not in site.other.received[-1].headers
    assert len(site.vendor.received) == before


def test_the_settings_of_the_operator_decide_where_requests_go_and_with_which_credentials(
    project: Path, vendors: tuple[Vendor, Vendor], tmp_path: Path
) -> None:
    """With a base URL, all go there. Without the key, a session is sent."""
    own, other = vendors
    before = len(other.received)
    at = {"GATEWAY_PETS_BASE_URL": f"{own.url}/copy"}
    given = environment(project, GATEWAY_PETS_SESSION="s1", GATEWAY_PETS_KEY="", **at)
    with running_gateway(tmp_path, environment=given) as gateway:
        site = Site(gateway, own, other)
        site.rest("get_photo", {"id": "photo"})
        photo = own.received[-1]
        site.rest("list_pets", {"lang": "de"})
    assert photo.line == "GET /copy/photos/photo"
    assert len(other.received) == before
    assert own.received[-1].headers["cookie"] == "lang=de; sid=s1"
    assert "x-key" not in own.received[-1].headers


def test_a_grant_of_a_tool_that_the_document_does_not_have_is_refused(project: Path) -> None:
    policies = project / "schemas" / "policies" / "agents.yaml"
    text = policies.read_text()
    policies.write_text(text.replace("- store.find_products", "- pets.get_cat"))
    try:
        with pytest.raises(AssertionError, match=r"pets\.get_cat"):
            run_gateway(project, "generate", "--check", environment=ITS_OWN)
    finally:
        policies.write_text(text)
