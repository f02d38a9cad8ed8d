"""What needs no key: the document, its viewer, the problem pages and the probes."""

import re
from typing import Any

import pytest

from gateway.transports.health import UpstreamState
from gateway.transports.http.problem_kinds import PROBLEMS


async def test_the_whole_openapi_document_is_served_byte_for_byte_and_revalidates(
    site: Any,
) -> None:
    async with site.http() as http:
        first = await http.get("/openapi.json")
        tag = first.headers["etag"]
        again = await http.get("/openapi.json", headers={"if-none-match": f'"other", W/{tag}'})
        changed = await http.get("/openapi.json", headers={"if-none-match": '"other"'})
    assert first.content == changed.content == site.catalogue.openapi
    assert first.headers["content-type"] == "application/json"
    assert (again.status_code, again.content) == (304, b"")


async def test_each_caller_sees_the_documents_of_what_its_key_may_call(
    site: Any, greeter_key: str
) -> None:
    async with site.http(greeter_key) as http:
        shown = (await http.get("/openapi.json")).json()
        events = (await http.get("/asyncapi.json")).json()
    assert list(shown["paths"]) == ["/v1/example/greet", "/webhooks/desk"]
    assert list(shown["components"]["schemas"]) == ["greet", "name"]
    assert [tag["name"] for tag in shown["tags"]] == ["example"]
    assert "webhooks" not in shown
    assert events["channels"] == events["operations"] == {}


async def test_a_key_that_is_shown_for_a_document_must_be_valid(site: Any) -> None:
    async with site.http("gw_nobody-0123456789") as http:
        for path in ("/openapi.json", "/asyncapi.json"):
            assert (await http.get(path)).status_code == 401


async def test_answers_to_different_keys_are_distinguished_by_caches(site: Any) -> None:
    async with site.http() as http:
        answer = await http.get("/openapi.json")
    assert answer.headers["vary"].lower() == "authorization"
    assert answer.headers["cache-control"] == "private, no-cache"


async def test_the_docs_use_nothing_from_elsewhere(site: Any) -> None:
    async with site.http(key=None) as http:
        page = await http.get("/docs")
        references = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        answers = [await http.get(reference) for reference in references]
    assert len(references) == 5
    assert all(reference.startswith("/docs/assets/") for reference in references)
    assert [answer.status_code for answer in answers] == [200] * 5
    assert "<style" not in page.text
    assert not re.search(r"<script>|\son\w+=", page.text)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


async def test_the_docs_keep_a_key_in_the_tab_alone_and_say_so(site: Any) -> None:
    async with site.http(key=None) as http:
        page = await http.get("/docs")
        script = await http.get("/docs/assets/docs.js")
    assert "kept in this browser tab until you close the tab or forget the key" in page.text
    assert "sessionStorage.setItem" in script.text
    assert "localStorage" not in script.text
    assert "persistAuthorization" not in script.text, "Swagger UI would use localStorage"
    assert "filter: true" in script.text


async def test_only_the_assets_are_served_as_files(site: Any) -> None:
    async with site.http(key=None) as http:
        for path in ("/docs/assets/nothing.js", "/docs/assets/..%5csite.py", "/docs/assets/"):
            assert (await http.get(path)).status_code in {400, 404}


@pytest.mark.parametrize("slug", sorted({kind.slug for kind in PROBLEMS.values()}))
async def test_every_problem_type_has_a_page_that_explains_it(site: Any, slug: str) -> None:
    async with site.http(key=None) as http:
        page = await http.get(f"/problems/{slug}")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "What to do" in page.text


async def test_an_unknown_problem_type_is_an_unknown_path(site: Any) -> None:
    async with site.http(key=None) as http:
        answer = await http.get("/problems/nothing")
    assert (answer.status_code, answer.json()["code"]) == (404, "PATH_NOT_FOUND")


async def test_a_page_asked_for_with_the_wrong_method_says_which_are_allowed(site: Any) -> None:
    async with site.http(key=None) as http:
        answer = await http.post("/docs")
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]
    assert answer.json()["code"] == "METHOD_NOT_ALLOWED"


async def test_the_index_says_what_is_here(site: Any) -> None:
    async with site.http(key=None) as http:
        page = await http.get("/")
    assert page.status_code == 200
    for path in ("/docs", "/openapi.json", "/mcp", "/healthz", "/readyz"):
        assert path in page.text


async def test_probes_distinguish_life_and_readiness(site: Any) -> None:
    async with site.http(key=None) as http:
        ready = await http.get("/readyz")
        refused = UpstreamState(backend="live", problem="the credentials are refused")
        site.readiness["upstreams"] = {"avinode": refused}
        degraded = await http.get("/readyz")
        site.readiness["problems"] = ("Webhooks cannot be stored.",)
        own = await http.get("/readyz")
        alive = await http.get("/healthz")
    assert (alive.status_code, alive.json()) == (200, {"status": "alive"})
    assert ready.status_code == 200
    nothing = {"store": "ok", "problems": [], "stopping": False}
    assert ready.json() == {"status": "ready", "mocks": ["avinode"], **nothing}
    assert degraded.status_code == 200
    assert degraded.json() == {"status": "degraded", "mocks": [], **nothing}
    assert own.json()["problems"] == ["Webhooks cannot be stored."]


async def test_a_failed_store_makes_the_gateway_not_ready(site: Any) -> None:
    site.readiness["store"] = "failed"
    async with site.http(key=None) as http:
        not_ready = await http.get("/readyz")
    assert (not_ready.status_code, not_ready.json()["status"]) == (503, "not ready")


async def test_a_listed_origin_may_call_and_another_may_not_even_ask(site: Any) -> None:
    preflight = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
    }
    async with site.http(key=None) as http:
        listed = {"origin": "https://ui.example.com"}
        allowed = await http.options("/mcp", headers={**preflight, **listed})
        answered = await http.get("/healthz", headers=listed)
        other = await http.options("/mcp", headers={**preflight, "origin": "https://evil.example"})
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == "https://ui.example.com"
    assert "mcp-protocol-version" in allowed.headers["access-control-allow-headers"]
    assert answered.headers["access-control-allow-origin"] == "https://ui.example.com"
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers
