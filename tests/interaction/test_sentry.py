"""Reports of defects at a small Sentry, on a real socket."""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from gateway import observability
from gateway.app import Gateway
from gateway.app.background import run_to_end
from gateway.app.reloading import refuse_fixed
from gateway.calls.dispatch import Dispatcher
from gateway.errors import ConfigurationError
from gateway.observability.defects import KIND_RATE, DefectHandler
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from gateway.testing.gateways import project_flags
from gateway.testing.suite.secrets import everything_logged
from tests.interaction.small_sentry import SmallSentry

KEY = "sentry-administrator-0123456789"
DSN_KEY = "d5n0canary7f3"
CANARY = "canary7f3"
_MEMBERS = {
    "environment",
    "event_id",
    "exception",
    "extra",
    "level",
    "logentry",
    "logger",
    "platform",
    "release",
    "sdk",
    "server_name",
    "timestamp",
}


@asynccontextmanager
async def reported(folder) -> AsyncIterator[tuple[Gateway, SmallSentry]]:
    """A gateway that reports its defects, and what Sentry has got when it has closed."""
    sentry = SmallSentry()
    async with serving(sentry) as there:
        dsn = f"http://{DSN_KEY}@{urlsplit(there).netloc}/7"
        environment = {"GATEWAY_BOOTSTRAP_KEY": KEY, "GATEWAY_SENTRY_DSN": dsn}
        settings = read_settings(environment, None, project_flags(folder))
        async with Gateway.open(settings) as gateway:
            yield gateway, sentry


@pytest.fixture
def crashing(monkeypatch):
    """Every call fails with an exception that repeats its arguments, as its variables do."""

    async def crash(_self, _permit, arguments, call):
        text = f"{arguments.given} {call.credentials}"
        try:
            {}[text]
        except KeyError as error:
            raise RuntimeError(text) from error

    monkeypatch.setattr(Dispatcher, "dispatch", crash)


async def test_a_defect_is_reported_without_anything_of_its_request(tmp_path, crashing):
    headers = {
        "authorization": f"Bearer {KEY}",
        "x-request-id": f"{CANARY}-request",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "user-agent": CANARY,
    }
    with everything_logged() as log:
        async with (
            reported(tmp_path) as (gateway, sentry),
            serving(gateway.http_app()) as url,
            httpx.AsyncClient(base_url=url, headers=headers) as http,
        ):
            answer = await http.post("/v1/example/greet", json={"name": CANARY})
            assert answer.status_code == 500
    (event,) = sentry.events
    assert set(event) <= _MEMBERS
    cause, crash = event["exception"]["values"]
    assert (cause["type"], crash["type"]) == ("KeyError", "RuntimeError")
    assert [each["function"] for each in crash["stacktrace"]["frames"]][-1] == "crash"
    assert {name for each in crash["stacktrace"]["frames"] for name in each} == {
        "module",
        "filename",
        "function",
        "lineno",
        "in_app",
    }
    assert event["logentry"]["message"].startswith("request %s: unexpected error")
    assert event["release"].startswith("contract-gateway@")
    (line,) = [each for each in map(json.loads, log.getvalue().splitlines()) if "report_id" in each]
    assert line["report_id"] == event["event_id"]
    assert "gateway_defect" not in line
    for secret in (CANARY, KEY, "4bf92f3577b34da6", DSN_KEY, str(tmp_path)):
        assert secret not in "".join(sentry.bodies)
        assert secret not in line["event"].replace(f"{CANARY}-request", "")


async def test_mistakes_of_callers_and_of_upstreams_are_no_defects(tmp_path):
    headers = {"authorization": f"Bearer {KEY}"}
    async with (
        reported(tmp_path) as (gateway, sentry),
        serving(gateway.http_app()) as url,
        httpx.AsyncClient(base_url=url, headers=headers) as http,
    ):
        assert (await http.post("/v1/example/greet", json={"nom": CANARY})).status_code == 422
        assert (await http.post("/v1/example/nothing", json={})).status_code == 404
        logging.getLogger("gateway.test").error("the store cannot be read: %s", CANARY)
    assert sentry.events == []


async def test_a_background_task_that_dies_is_reported(tmp_path):
    died = asyncio.Event()

    async def die():
        if died.is_set():
            return
        died.set()
        raise ValueError(CANARY)

    async with reported(tmp_path) as (_, sentry):
        await run_to_end("sweeper", die)
    (event,) = sentry.events
    assert event["logentry"]["message"] == "the task %s failed and is restarted"
    assert CANARY not in "".join(sentry.bodies)


async def test_reports_are_limited_and_the_others_counted(tmp_path, crashing):
    async with reported(tmp_path) as (gateway, sentry):
        for _ in range(3 * KIND_RATE.burst):
            with pytest.raises(RuntimeError):
                await gateway.call("example.greet", {"name": CANARY})
            logging.getLogger("gateway.test").error("it failed", exc_info=ValueError(CANARY))
    assert len(sentry.events) == KIND_RATE.burst
    assert CANARY not in "".join(sentry.bodies)


async def test_a_sentry_that_is_away_changes_nothing(tmp_path, crashing):
    environment = {"GATEWAY_SENTRY_DSN": f"http://{DSN_KEY}@127.0.0.1:9/7"}
    settings = read_settings(environment, None, project_flags(tmp_path))
    async with Gateway.open(settings) as gateway:
        logging.getLogger("gateway.test").error("it failed", exc_info=ValueError(CANARY))
        with pytest.raises(RuntimeError):
            await gateway.call("example.greet", {"name": "Ada"})


def handlers():
    return [each for each in logging.getLogger().handlers if isinstance(each, DefectHandler)]


async def test_without_a_project_nothing_is_loaded_and_after_the_end_nothing_reports(tmp_path):
    async with Gateway.open(read_settings({}, None, project_flags(tmp_path / "none"))):
        assert handlers() == []
    async with reported(tmp_path):
        assert len(handlers()) == 1
        with everything_logged():
            assert len(handlers()) == 1, "the log is configured again"
    assert handlers() == []


async def test_without_the_extra_the_start_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    monkeypatch.delitem(sys.modules, "gateway.observability.sentry", raising=False)
    monkeypatch.delattr(observability, "sentry", raising=False)
    environment = {"GATEWAY_SENTRY_DSN": f"https://{DSN_KEY}@sentry.example/7"}
    settings = read_settings(environment, None, project_flags(tmp_path))
    with pytest.raises(ConfigurationError, match=r"contract-gateway\[sentry\]"):
        async with Gateway.open(settings):
            pass


async def test_a_dsn_that_sentry_does_not_know_stops_the_start_and_is_not_shown(tmp_path):
    environment = {"GATEWAY_SENTRY_DSN": f"https://{DSN_KEY}@sentry.example/words"}
    settings = read_settings(environment, None, project_flags(tmp_path))
    with pytest.raises(ConfigurationError, match="sentry_dsn: Sentry does not accept it") as found:
        async with Gateway.open(settings):
            pass
    assert DSN_KEY not in str(found.value)
    assert any(DSN_KEY in each for each in settings.secrets())


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("SENTRY_DSN", "https://a@sentry.example/1", "https://b@sentry.example/1"),
        ("TRACE_ENDPOINT", "http://a.example/", "http://b.example/"),
        ("TRACE_SAMPLE", "1", "0.5"),
    ],
)
def test_a_reload_refuses_what_it_cannot_change(name, before, after):
    old, new = (read_settings({f"GATEWAY_{name}": each}, None, {}) for each in (before, after))
    with pytest.raises(ConfigurationError, match=f"a reload cannot change {name.lower()}"):
        refuse_fixed(old, new)
    refuse_fixed(old, old)
