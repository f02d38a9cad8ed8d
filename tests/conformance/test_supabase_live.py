"""A gateway whose Supabase is live: keys, faults and what is said of doubtful writes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from gateway.app import Gateway
from gateway.calls.sending import Sending
from gateway.errors import (
    InvalidReply,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRefusedCredentials,
    UpstreamUnavailable,
)
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from tests.postgrest.emulator import SECRET_KEY, SERVICE_ROLE_KEY, Emulator

NEW = {"table": "iso_requests", "data": {"id": "q1", "message": "secret note"}}
ALL = {"table": "iso_requests"}


@asynccontextmanager
async def live(address: str, folder: Any, **variables: str) -> AsyncIterator[Gateway]:
    environ = {"GATEWAY_SUPABASE_BASE_URL": f"{address}/rest/v1", **variables}
    flags = {"data": folder, "database_url": "memory:"}
    async with Gateway.open(read_settings(environ, None, flags)) as gateway:
        yield gateway


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("GATEWAY_SUPABASE_SECRET_KEY", SECRET_KEY),
        ("GATEWAY_SUPABASE_SERVICE_ROLE_KEY", SERVICE_ROLE_KEY),
    ],
)
async def test_either_kind_of_key_is_let_in(upstream_url, tmp_path, variable, key) -> None:
    emulator = Emulator(upstream_url)
    async with (
        serving(emulator.application) as address,
        live(address, tmp_path, **{variable: key}) as gateway,
    ):
        made = await gateway.call("supabase.insert", NEW)
        assert await gateway.call("supabase.query", ALL) == made
        with pytest.raises(ToolFailed) as failed:
            await gateway.call("supabase.insert", NEW)
        assert (await gateway.readiness()).upstreams["supabase"].backend == "live"

    assert (failed.value.reason, failed.value.status) == ("conflict", 409)
    assert not (tmp_path / "workspace.db").exists()
    bearers = {request.headers.get("authorization") for request in emulator.requests}
    assert bearers == ({None} if key == SECRET_KEY else {f"Bearer {SERVICE_ROLE_KEY}"})


@pytest.mark.postgres
async def test_a_wrong_key_is_reported_as_the_gateways_own_fault(upstream_url, tmp_path) -> None:
    async with (
        serving(Emulator(upstream_url).application) as address,
        live(address, tmp_path, GATEWAY_SUPABASE_SECRET_KEY="sb_secret_wrong") as gateway,
    ):
        with pytest.raises(UpstreamRefusedCredentials):
            await gateway.call("supabase.query", ALL)


@pytest.mark.postgres
async def test_a_project_without_the_tables_says_which_code(fresh_url, tmp_path) -> None:
    async with (
        serving(Emulator(fresh_url).application) as address,
        live(address, tmp_path, GATEWAY_SUPABASE_SECRET_KEY=SECRET_KEY) as gateway,
    ):
        for tool, arguments in (
            ("query", ALL),
            ("update", {**ALL, "filters": {"id": "a"}, "data": {"message": "x"}}),
            ("rpc", {"function": "calculate_quote_scores", "params": {"quotes": []}}),
        ):
            with pytest.raises(UpstreamNotSetUp, match=r"PGRST20.*\.sql"):
                await gateway.call(f"supabase.{tool}", arguments)


class Failing:
    """An upstream that gives each answer of its script in turn, and the last one for ever."""

    def __init__(self, *script: Response) -> None:
        self.script = list(script)
        self.count = 0
        self.application = Starlette(
            routes=[
                Route(
                    "/rest/v1/{rest:path}", self._answer, methods=["GET", "POST", "PATCH", "DELETE"]
                )
            ]
        )

    async def _answer(self, _request: Any) -> Response:
        self.count += 1
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def failure(status: int, code: str, **headers: str) -> Response:
    body = f'{{"code":"{code}","message":"about secret note","details":null,"hint":null}}'
    return Response(body, status, headers, media_type="application/json")


@asynccontextmanager
async def failing(folder: Any, *script: Response) -> AsyncIterator[tuple[Gateway, Failing]]:
    upstream = Failing(*script)
    key = {"GATEWAY_SUPABASE_SECRET_KEY": SECRET_KEY}
    async with serving(upstream.application) as address, live(address, folder, **key) as gateway:
        yield gateway, upstream


async def test_a_write_that_may_have_happened_says_so_and_is_sent_once(tmp_path) -> None:
    async with failing(tmp_path, failure(503, "57P01")) as (gateway, upstream):
        with pytest.raises(UpstreamUnavailable, match="may have happened") as failed:
            await gateway.call("supabase.insert", NEW)

    assert upstream.count == 1
    assert not failed.value.is_retryable
    assert "secret note" not in str(failed.value)


async def test_a_read_is_tried_again(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Sending, "_wait", lambda *_: 0.0)
    rows = Response("[]", media_type="application/json")
    busy = failure(429, "", **{"Retry-After": "0"})
    async with failing(tmp_path, busy, rows) as (gateway, upstream):
        assert await gateway.call("supabase.query", ALL) == {"rows": [], "count": 0}

    assert upstream.count == 2


async def test_an_answer_that_is_none_is_no_success(tmp_path) -> None:
    answers = (
        Response('[{"id":', media_type="application/json"),
        Response("<html>", media_type="text/html"),
        Response("{}", media_type="application/json"),
        Response('[{"id": "a", "notes": 7}]', media_type="application/json"),
        Response(status_code=204),
    )
    async with failing(tmp_path, *answers) as (gateway, upstream):
        for number in range(1, len(answers) + 1):
            with pytest.raises(InvalidReply):
                await gateway.call("supabase.query", ALL)
            assert upstream.count == number


async def test_a_redirect_is_not_followed(tmp_path) -> None:
    away = Response(status_code=307, headers={"Location": "https://example.com/"})
    async with failing(tmp_path, away) as (gateway, upstream):
        with pytest.raises(InvalidReply):
            await gateway.call("supabase.query", ALL)

    assert upstream.count == 1
