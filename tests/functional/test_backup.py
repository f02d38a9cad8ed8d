"""A backup that is taken under load, restored where nothing is, and a gateway that goes on."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import Struct, field

from tests.eventually import PATIENCE_SECONDS
from tests.functional.test_webhook_ingest import send
from tests.gateway_process import RunningGateway, run_gateway, running_gateway, until
from tests.postgres import PreparedDatabases
from tests.receivers import Received, is_signed

PASSPHRASE = {"GATEWAY_BACKUP_PASSPHRASE": "a long passphrase of the tests"}
LOCAL = {"GATEWAY_ENDPOINTS_ALLOW": "127.0.0.0/8"}
ENOUGH = 10
PAUSE_SECONDS = 0.02


class Place(Struct):
    """Where a gateway keeps its state: a data folder, and for PostgreSQL a database."""

    data: Path
    url: str | None

    @property
    def environment(self) -> dict[str, str]:
        named = {} if self.url is None else {"GATEWAY_DATABASE_URL": self.url}
        workspace = {} if self.url is None else {"GATEWAY_WORKSPACE_URL": self.url}
        return {**PASSPHRASE, **LOCAL, **named, **workspace}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Place, Place]:
    """Where the gateway was, and where nothing is yet."""
    names = ("old", "new")
    urls: list[str | None] = [None, None]
    if request.param == "postgres":
        databases: PreparedDatabases = request.getfixturevalue("databases")
        urls = [databases.url(name) for name in names]
    old, new = (Place(tmp_path / name, url) for name, url in zip(names, urls, strict=True))
    return old, new


class Subscriber(Struct):
    """Keeps what is delivered to it, once it is open."""

    port: int = 0
    got: list[Received] = field(default_factory=list)

    @contextmanager
    def listening(self) -> Iterator["Subscriber"]:
        got = self.got

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                fields = {name.lower(): value for name, value in self.headers.items()}
                got.append(Received("POST", self.path, fields, body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        with ThreadingHTTPServer(("127.0.0.1", self.port), Handler) as server:
            self.port = server.server_port
            thread = threading.Thread(target=server.serve_forever, args=(0.02,))
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()

    def subjects(self) -> set[str]:
        return {str(json.loads(each.body)["subject"]) for each in self.got}


@contextmanager
def load(gateway: RunningGateway, secret: str) -> Iterator[list[str]]:
    """Messages one after the other for as long as the block runs; the ids of those acknowledged."""
    acknowledged: list[str] = []
    is_over = threading.Event()

    def stream() -> None:
        number = 0
        while not is_over.wait(PAUSE_SECONDS):
            number += 1
            name = f"load-{number}"
            if send(gateway.url, secret, name, quote_id=name).status_code == 202:
                acknowledged.append(name)

    thread = threading.Thread(target=stream)
    thread.start()
    try:
        yield acknowledged
    finally:
        is_over.set()
        thread.join()


def secret_of(place: Place) -> str:
    return (place.data / "webhook-secrets" / "avinode-signed").read_text("utf-8").strip()


def http(gateway: RunningGateway, key: str | None = None) -> httpx.Client:
    headers = {"authorization": f"Bearer {key or gateway.key}"}
    return httpx.Client(base_url=gateway.url, headers=headers, timeout=PATIENCE_SECONDS)


def events(gateway: RunningGateway, after: str | None, last: str) -> list[dict[str, Any]]:
    """What was published after this event id, up to the event about `last`."""
    found = []
    resume = {"from": "earliest"} if after is None else {}
    headers = {} if after is None else {"last-event-id": after}
    with (
        http(gateway) as client,
        client.stream("GET", "/events", params=resume, headers=headers) as reply,
    ):
        assert reply.status_code == 200
        position = ""
        for line in reply.iter_lines():
            if line.startswith("id: "):
                position = line.removeprefix("id: ")
            if line.startswith("data: "):
                found.append({"at": position, **json.loads(line.removeprefix("data: "))})
                if found[-1]["subject"] == last:
                    return found
    return found


class Before(Struct):
    """What is known of the gateway before the backup."""

    agent_key: str
    endpoint_secret: str
    position: str
    """Of the last event that a follower has seen."""


def live_a_little(place: Place, subscriber: Subscriber) -> Before:
    """A gateway that has a key, an endpoint, a row in the workspace, and an event."""
    with (
        subscriber.listening(),
        running_gateway(place.data, environment=place.environment) as gateway,
        http(gateway) as client,
    ):
        created = run_gateway(
            place.data,
            *("keys", "create", "flight_search", "--data", ".", "--json"),
            environment=place.environment,
        )
        endpoint = client.post(
            "/operator/endpoints", json={"url": f"http://127.0.0.1:{subscriber.port}/hooks"}
        )
        assert endpoint.status_code == 201, endpoint.text
        name = client.post("/v1/supabase/insert", json={"table": "client_cache", "data": [CLIENT]})
        assert name.status_code == 200, name.text
        assert send(gateway.url, secret_of(place), "first", quote_id="first").status_code == 202
        (seen, *_) = [e for e in events(gateway, None, "first") if e["subject"] == "first"]
        until(lambda: "first" in subscriber.subjects())
    return Before(json.loads(created)["key"], endpoint.json()["secret"], str(seen["at"]))


def backed_up_under_load(place: Place, file: Path) -> set[str]:
    """The messages that were acknowledged before the backup began; none has been processed."""
    with (
        running_gateway(place.data, "--workers", "0", environment=place.environment) as gateway,
        load(gateway, secret_of(place)) as acknowledged,
    ):
        until(lambda: len(acknowledged) >= ENOUGH)
        before = set(acknowledged)
        arguments = ("backup", "create", str(file), "--data", str(place.data), "--json")
        report = json.loads(run_gateway(file.parent, *arguments, environment=place.environment))
        until(lambda: len(acknowledged) > len(before))
    assert report["bytes"] == file.stat().st_size
    assert file.stat().st_mode & 0o777 == 0o600
    return before


def restore(file: Path, place: Place) -> None:
    arguments = ("restore", str(file), "--data", str(place.data))
    run_gateway(file.parent, *arguments, environment=place.environment)


CLIENT = {"name": "Ada", "company": "Kept Ltd"}


def test_a_restored_gateway_goes_on_where_the_backup_was_made(
    places: tuple[Place, Place], tmp_path: Path
) -> None:
    old, new = places
    subscriber, file = Subscriber(), tmp_path / "backup.gwb"
    known = live_a_little(old, subscriber)
    acknowledged = backed_up_under_load(old, file)
    restore(file, new)
    assert secret_of(new) == secret_of(old)
    with (
        subscriber.listening(),
        running_gateway(new.data, environment=new.environment) as gateway,
    ):
        for name in acknowledged:
            repeated = send(gateway.url, secret_of(new), name, quote_id=name)
            assert repeated.status_code == 200, "it is known already"
        _check_keys_and_rows(gateway, known)
        assert send(gateway.url, secret_of(new), "last", quote_id="last").status_code == 202
        until(lambda: {*acknowledged, "last"} <= subscriber.subjects())
        follows = [each["subject"] for each in events(gateway, known.position, "last")]
    assert all(is_signed(each, known.endpoint_secret) for each in subscriber.got)
    quotes = [subject for subject in follows if subject.startswith("load-")]
    assert acknowledged <= set(quotes)
    assert len(quotes) == len(set(quotes))
    assert "first" not in follows


def _check_keys_and_rows(gateway: RunningGateway, known: Before) -> None:
    with http(gateway, known.agent_key) as client:
        tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"accept": "application/json, text/event-stream"}
        assert client.post("/mcp", json=tools, headers=accept).status_code == 200
    with http(gateway) as client:
        found = client.post("/v1/supabase/query", json={"table": "client_cache"})
        assert "Kept Ltd" in found.text
