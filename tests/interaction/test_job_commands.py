"""`gateway jobs`, and `gateway call` of what becomes a job, at a gateway on a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import uvicorn

from gateway.cli import jobs
from gateway.cli.edge import run
from gateway.transports.connections.listen import bind
from tests.interaction.long_site import ADA, KEY, REQUIRED, LongSite, open_site

Cli = Callable[..., Awaitable[tuple[int, str, str]]]
UNKNOWN = "01a208ef-fcc9-7808-a327-4b07e84158e6"
CALL = ("call", "example.greet", "--json", json.dumps(ADA))


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path) as opened:
        yield opened


@pytest.fixture
def asked() -> asyncio.Queue[str]:
    """The paths of the requests that have arrived."""
    return asyncio.Queue()


@pytest.fixture
async def url(site: LongSite, asked: asyncio.Queue[str]) -> AsyncIterator[str]:
    async def noted(scope: Any, receive: Any, send: Any) -> None:
        asked.put_nowait(scope["path"])
        await site.app(scope, receive, send)

    config = uvicorn.Config(noted, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    listener = bind("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await serving


@pytest.fixture
def cli(
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """Runs `gateway ARGUMENTS --url`, beside the gateway."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    monkeypatch.setenv("GATEWAY_SCHEMAS", "schemas")

    async def _run(*arguments: str, at: str = url) -> tuple[int, str, str]:
        capsys.readouterr()
        code = await asyncio.to_thread(run, [*arguments, "--url", at])
        return code, *capsys.readouterr()

    return _run


async def new_job(site: LongSite) -> str:
    return str((await site.post(REQUIRED, ADA)).json()["id"])


async def test_the_jobs_of_the_key_are_listed_and_shown(site: LongSite, cli: Cli) -> None:
    ended = await new_job(site)
    site.acts.release.set()
    await site.ended(f"/v1/jobs/{ended}")
    site.acts.release.clear()
    site.acts.entered.clear()
    running = await new_job(site)
    await site.acts.entered.wait()

    _, table, _ = await cli("jobs", "list")
    _, filtered, _ = await cli("jobs", "list", "--status", "succeeded", "--json")
    _, one, _ = await cli("jobs", "list", "--limit", "1", "--json")
    code, shown, _ = await cli("jobs", "show", ended)
    _, whole, _ = await cli("jobs", "show", ended, "--json")

    rows = [line.split() for line in table.splitlines()]
    assert rows[0] == ["id", "tool", "status", "since", "age"]
    assert [row[:3] for row in rows[1:]] == [
        [running, "example.greet", "running"],
        [ended, "example.greet", "succeeded"],
    ]
    assert [each["id"] for each in json.loads(filtered)] == [ended]
    assert [each["id"] for each in json.loads(one)] == [running]
    assert code == 0
    assert "kept until " in shown
    assert json.loads(whole)["result"] == {"greeting": "Hello Ada"}


async def test_a_job_is_followed_until_its_result(
    site: LongSite, cli: Cli, asked: asyncio.Queue[str]
) -> None:
    job = await new_job(site)
    await site.acts.entered.wait()
    early = await cli("jobs", "result", job)
    follower = asyncio.create_task(cli("jobs", "follow", job))
    while not (await asked.get()).endswith("/events"):
        pass
    site.acts.release.set()
    followed = await follower
    after = await cli("jobs", "result", job)

    assert (early[0], json.loads(early[1])["code"]) == (1, "JOB_UNDER_WAY")
    assert followed == after
    assert (after[0], json.loads(after[1]), after[2]) == (0, {"greeting": "Hello Ada"}, "")


async def test_a_job_that_failed_exits_as_its_call_would(site: LongSite, cli: Cli) -> None:
    site.acts.refuse = "out_of_range"
    site.acts.release.set()
    job = await new_job(site)
    code, out, err = await cli("jobs", "follow", job)

    assert code == 1
    assert err.startswith(f"error: {json.loads(out)['code']}: ")


async def test_a_job_is_cancelled(site: LongSite, cli: Cli) -> None:
    job = await new_job(site)
    await site.acts.entered.wait()
    code, out, _ = await cli("jobs", "cancel", job)
    followed = await cli("jobs", "follow", job)

    assert (code, out.splitlines()[1].split()[:3]) == (0, [job, "example.greet", "cancelled"])
    assert "problem: OUTCOME_UNKNOWN: " in out
    assert followed[0] == 1


async def test_a_call_that_becomes_a_job_says_how_to_follow_it(
    site: LongSite, cli: Cli, url: str
) -> None:
    code, out, err = await cli(*CALL)
    site.acts.release.set()
    waited = await cli(*CALL, "--wait")

    job = json.loads(out)["id"]
    assert code == 0
    assert f"follow it: gateway jobs follow {job} --url {url}\n" in err
    assert (waited[0], json.loads(waited[1])) == (0, {"greeting": "Hello Ada"})


async def test_an_unknown_job_is_one_clear_error(cli: Cli) -> None:
    for verb in ("show", "cancel", "follow"):
        code, out, err = await cli("jobs", verb, UNKNOWN)
        assert (code, out) == (1, "")
        assert err.startswith("error: JOB_NOT_FOUND: You have no job with this id.\nfix: ")


async def test_a_gateway_that_is_away_is_one_clear_error(cli: Cli) -> None:
    for arguments in (("list",), ("result", UNKNOWN), ("follow", UNKNOWN)):
        code, out, err = await cli("jobs", *arguments, at="http://127.0.0.1:1")
        assert (code, out) == (2, "")
        assert err.startswith("error: http://127.0.0.1:1 did not answer (ConnectError)\nfix: ")


async def test_a_stream_that_was_cut_off_is_opened_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its message has a line end of Unicode, which ends no line, and is data for the terminal."""
    monkeypatch.setattr(jobs, "_WAIT_SECONDS", 0.01)
    said: list[str] = []
    monkeypatch.setattr(jobs, "progress", lambda _: nullcontext(said.append))
    moment = "2026-11-23T12:00:00Z"
    job = {"id": "a", "operation": "b.c", "created_at": moment, "updated_at": moment}
    progress = {"done": 1, "message": "[red]one\u2028two"}
    running = job | {"status": "running", "progress": progress}
    streams = [[running], [running], [job | {"status": "succeeded"}]]

    class _Stream(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_stream = self.path == "/v1/jobs/a/events"
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if is_stream else "text/json")
            self.end_headers()
            events = (json.dumps(each, ensure_ascii=False) for each in streams.pop(0))
            text = "".join(f"event: job\ndata: {each}\n\n" for each in events)
            self.wfile.write(text.encode() if is_stream else b"{}")
            streams.extend([] if streams else [[]])

        def log_message(self, *_: Any) -> None:
            """Tests print nothing."""

    server = HTTPServer(("127.0.0.1", 0), _Stream)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        code = await asyncio.to_thread(jobs.follow_job, url, None, "a")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    step = "running, 1 \\[red]one\\u2028two"
    assert (code, capsys.readouterr().out) == (0, "{}\n")
    assert said == [step, step, "succeeded"]
