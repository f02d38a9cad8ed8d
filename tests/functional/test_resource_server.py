"""The suite for authentication and authorization passes a gateway, and finds planted defects."""

import http.client
import importlib
import json
import sys
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY, RunningGateway, run_gateway, running_gateway

FOLDER = REPOSITORY / "scripts" / "conformance"
SUITE = FOLDER / "resource_server.py"
OF_OAUTH = {
    "metadata",
    "metadata-at-root",
    "challenge-metadata",
    "expired-token",
    "foreign-audience",
    "insufficient-scope",
}
"""What a gateway with keys has nothing to do with."""
METADATA = "/.well-known/oauth-protected-resource"
UNLIMITED = {
    "GATEWAY_UNAUTHENTICATED_REQUESTS_PER_SECOND": "100000",
    "GATEWAY_ALL_UNAUTHENTICATED_REQUESTS_PER_SECOND": "1000000",
    "GATEWAY_MAX_CONNECTS_PER_SECOND": "100000",
}
"""The suite waits where a gateway limits it, and sends again."""


@dataclass
class Keys:
    """The keys that the suite is given."""

    gateway: RunningGateway
    own: str
    revoked: str

    def files(self, folder: Path) -> list[str]:
        found = {"": self.own, "admin-": self.gateway.key, "revoked-": self.revoked}
        options = []
        for kind, key in found.items():
            file = folder / f"{kind}key"
            file.write_text(f"{key}\n")
            options += [f"--{kind}key-file", str(file)]
        return options


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keys]:
    with running_gateway(tmp_path_factory.mktemp("gateway"), environment=UNLIMITED) as gateway:
        text = run_gateway(gateway.data, "keys", "create", "client_data", "--data", ".", "--json")
        revoked = json.loads(text)
        run_gateway(gateway.data, "keys", "revoke", revoked["id"], "--data", ".")
        yield Keys(gateway, gateway.create_key("client_data"), revoked["key"])


@pytest.fixture(scope="module")
def suite() -> Iterator[Any]:
    """The script's modules, found as they find each other. They wait as long as it takes."""

    def patient(**given: Any) -> httpx.Client:
        return client(**{**given, "timeout": PATIENCE_SECONDS})

    client = httpx.Client
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        patch.setattr(httpx, "Client", patient)
        names = ("resource_server", "resource_target", "resource_checks")
        yield {name: importlib.import_module(name) for name in names}


def told(
    suite: Any, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str, str]:
    """Exit code, output and errors of the script with these arguments, in this process."""
    patch.setattr(sys, "argv", [str(SUITE), *arguments])
    patch.setattr(suite["resource_checks"], "_SECONDS", PATIENCE_SECONDS)
    code = suite["resource_server"].main()
    return code, *capsys.readouterr()


@pytest.mark.slow
def test_a_gateway_passes_every_check_that_applies_to_keys(
    suite: Any, keys: Keys, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    asked = (keys.gateway.url, *keys.files(tmp_path), "--json")
    code, out, _ = told(suite, capsys, monkeypatch, *asked)
    found = {each["check"]: each for each in json.loads(out)}
    wrong = {name: each["violations"] for name, each in found.items() if each["violations"]}
    assert wrong == {}
    idle = {name for name, each in found.items() if each["outcome"] == "not applicable"}
    assert idle == OF_OAUTH
    assert all(found[name]["reason"] for name in idle)
    assert code == 0


def test_an_issuer_that_is_not_named_is_a_violation(
    suite: Any, keys: Keys, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    options = ("--issuer", "https://login.example.com", "--only", "metadata", "--json")
    asked = (keys.gateway.url, *keys.files(tmp_path), *options)
    code, out, _ = told(suite, capsys, monkeypatch, *asked)
    (found,) = json.loads(out)
    assert (code, found["check"], found["outcome"]) == (1, "metadata", "failed")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--key-file"),
        (("http://127.0.0.1:9", "--only", "nothing"), "no check nothing"),
    ],
)
def test_misuse_is_explained(
    suite: Any, capsys: Any, monkeypatch: Any, arguments: tuple[str, ...], says: str
) -> None:
    code, _, error = told(suite, capsys, monkeypatch, *arguments)
    assert code == 2
    assert says in error


def test_a_server_that_does_not_answer_is_reported(
    suite: Any, keys: Keys, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    asked = ("http://127.0.0.1:9", *keys.files(tmp_path))
    code, out, error = told(suite, capsys, monkeypatch, *asked)
    assert (code, out) == (2, "")
    assert "cannot be checked" in error


@dataclass
class Asked:
    """A request on its way to the gateway."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes
    keys: Keys

    def value(self, name: str) -> str:
        found = (value for each, value in self.headers if each.lower() == name)
        return next(found, "")

    def become(self, key: str) -> None:
        """Let the request have this key and no other."""
        kept = [each for each in self.headers if each[0].lower() != "authorization"]
        self.headers = [*kept, ("authorization", f"Bearer {key}")]


@dataclass
class Answered:
    """An answer on its way back."""

    status: int
    headers: dict[str, str]
    body: bytes = b""
    asked: Asked | None = field(default=None, repr=False)


Defect = Callable[[Asked, Callable[[], Answered]], Answered]


def in_the_query(asked: Asked, go: Callable[[], Answered]) -> Answered:
    token = parse_qs(urlsplit(asked.path).query).get("access_token")
    if token:
        asked.become(token[0])
    return go()


def in_a_cookie(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if "access_token=" in asked.value("cookie"):
        asked.become(asked.value("cookie").partition("=")[2])
    return go()


def revoked_is_fine(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if asked.keys.revoked in asked.value("authorization"):
        asked.become(asked.keys.own)
    return go()


def first_of_two(asked: Asked, go: Callable[[], Answered]) -> Answered:
    shown = [value for name, value in asked.headers if name.lower() == "authorization"]
    if len(shown) > 1:
        asked.become(shown[0].removeprefix("Bearer "))
    return go()


def first_word(asked: Asked, go: Callable[[], Answered]) -> Answered:
    words = asked.value("authorization").split()
    if words[:1] == ["Bearer"] and len(words) > 2:
        asked.become(words[1])
    return go()


def any_length(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if asked.value("authorization").startswith(f"Bearer {asked.keys.own}A"):
        asked.become(asked.keys.own)
    return go()


def exact_scheme(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if asked.value("authorization").startswith(("bearer", "BEARER")):
        asked.headers = [each for each in asked.headers if each[0].lower() != "authorization"]
    return go()


def with_challenge(change: Callable[[str], str], when: str) -> Defect:
    def defect(asked: Asked, go: Callable[[], Answered]) -> Answered:
        answered = go()
        shown = asked.value("authorization").partition(" ")[0]
        if "www-authenticate" in answered.headers and shown == when:
            answered.headers["www-authenticate"] = change(answered.headers["www-authenticate"])
        return answered

    return defect


def bad_json_first(asked: Asked, go: Callable[[], Answered]) -> Answered:
    try:
        json.loads(asked.body or b"{}")
    except (ValueError, RecursionError):
        return problem(400)
    return go()


def head_is_free(asked: Asked, go: Callable[[], Answered]) -> Answered:
    return Answered(200, {}) if asked.method == "HEAD" else go()


def known_connectors(asked: Asked, go: Callable[[], Answered]) -> Answered:
    return problem(404) if asked.path.startswith("/mcp/no_such") else go()


def forbidden_tools(asked: Asked, go: Callable[[], Answered]) -> Answered:
    """What the key may not call is forbidden, and what does not exist is not found."""
    answered = go()
    is_hidden = answered.status == 404 and asked.path.startswith("/v1/")
    return problem(403) if is_hidden and "no_such" not in asked.path else answered


def everything_listed(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if b'"tools/list"' in asked.body and asked.keys.own in asked.value("authorization"):
        asked.become(asked.keys.gateway.key)
    return go()


def documents_of_all(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if asked.path == "/openapi.json" and not asked.value("authorization"):
        asked.become(asked.keys.gateway.key)
    return go()


def clear_names_only(asked: Asked, go: Callable[[], Answered]) -> Answered:
    """Authorize by the header as it stands, and run what it encodes."""
    name = asked.value("mcp-name")
    if name.startswith("=?base64?") and name.endswith("?=") and b"zz" in asked.body:
        text = b64decode(name[9:-2] + "==", validate=False).decode("latin-1")
        if text and f'"{text}"'.encode() in asked.body:
            asked.become(asked.keys.gateway.key)
    return go()


def echoed(asked: Asked, go: Callable[[], Answered]) -> Answered:
    answered = go()
    answered.headers["x-seen"] = asked.value("authorization") or "nothing"
    return answered


def other_status(asked: Asked, go: Callable[[], Answered]) -> Answered:
    answered = go()
    answered.body = answered.body.replace(b'"status":401', b'"status":400')
    return answered


def operators_exist(asked: Asked, go: Callable[[], Answered]) -> Answered:
    answered = go()
    is_hidden = answered.status == 404 and asked.path == "/operator/audit"
    return problem(403) if is_hidden else answered


def any_card(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if asked.path.endswith("/server-card") and asked.keys.own in asked.value("authorization"):
        asked.become(asked.keys.gateway.key)
    return go()


def older_list(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if b'"tools/list"' in asked.body and b"_meta" not in asked.body:
        asked.become(asked.keys.gateway.key)
    return go()


def wrong_metadata(asked: Asked, go: Callable[[], Answered]) -> Answered:
    if asked.path != f"{METADATA}/mcp":
        return go()
    text = {"resource": "https://other.example/api", "bearer_methods_supported": ["query"]}
    return Answered(200, {"content-type": "application/json"}, json.dumps(text).encode())


def careless(asked: Asked, go: Callable[[], Answered]) -> Answered:
    """Serve the public card without a look at the key."""
    if asked.path == "/mcp/server-card":
        asked.headers = [each for each in asked.headers if each[0].lower() != "authorization"]
    return go()


def problem(status: int) -> Answered:
    kind = {"type": "/problems/x", "title": "X", "status": status, "code": "X"}
    head = {"content-type": "application/problem+json", "cache-control": "no-store"}
    return Answered(status, head, json.dumps(kind).encode())


DEFECTS: list[tuple[str, Defect]] = [
    ("no-token", with_challenge(lambda _: "Basic", "")),
    ("no-token", with_challenge(lambda text: f'{text}, error="invalid_token"', "")),
    ("invalid-token", with_challenge(lambda text: text.partition(",")[0], "Bearer")),
    ("revoked-token", revoked_is_fine),
    ("optional-token", careless),
    ("other-scheme", with_challenge(lambda text: f'{text}, error="invalid_token"', "Basic")),
    ("scheme-case", exact_scheme),
    ("malformed-header", first_word),
    ("oversized-header", any_length),
    ("two-headers", first_of_two),
    ("token-elsewhere", in_the_query),
    ("token-elsewhere", in_a_cookie),
    ("before-the-body", bad_json_first),
    ("odd-methods", head_is_free),
    ("unknown-paths", known_connectors),
    ("unknown-tool", forbidden_tools),
    ("encoded-name", clear_names_only),
    ("listed-is-callable", everything_listed),
    ("same-list", older_list),
    ("documents", documents_of_all),
    ("operators", operators_exist),
    ("connectors", any_card),
    ("no-token-in-answers", echoed),
    ("problems", other_status),
    ("metadata", wrong_metadata),
    ("metadata-at-root", wrong_metadata),
    ("challenge-metadata", wrong_metadata),
]
NO_DEFECT: Defect = lambda _asked, go: go()  # noqa: E731 - beside the others


class Proxy(BaseHTTPRequestHandler):
    """A connection to the proxy."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    keys: Keys
    defect: Defect

    def answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            return
        asked = Asked(self.command, self.path, list(self.headers.items()), body, self.keys)
        answered = type(self).defect(asked, lambda: forwarded(asked))
        self.send_response_only(answered.status)
        for name, value in answered.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answered.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answered.body)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def standing_between(keys: Keys, defect: Defect) -> Iterator[str]:
    """The URL of a proxy before the gateway, which adds the defect."""
    members = {"keys": keys, "defect": staticmethod(defect)}
    proxy = type("Defective", (Proxy,), members)
    with ThreadingHTTPServer(("127.0.0.1", 0), proxy) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def forwarded(asked: Asked) -> Answered:
    netloc = urlsplit(asked.keys.gateway.url).netloc
    connection = http.client.HTTPConnection(netloc, timeout=PATIENCE_SECONDS)
    connection.putrequest(asked.method, asked.path, skip_host=True, skip_accept_encoding=True)
    connection.putheader("host", netloc)
    for name, value in asked.headers:
        if name.lower() not in {"host", "connection", "content-length", "transfer-encoding"}:
            connection.putheader(name, value.encode("latin-1"))
    if asked.body:
        connection.putheader("content-length", str(len(asked.body)))
    connection.endheaders(asked.body or None)
    with closing(connection), connection.getresponse() as response:
        skipped = {"content-length", "connection", "transfer-encoding"}
        headers = {k.lower(): v for k, v in response.getheaders() if k.lower() not in skipped}
        return Answered(response.status, headers, response.read())


def failed(
    suite: Any, keys: Keys, patch: pytest.MonkeyPatch, defect: Defect, *only: str
) -> set[str]:
    """The checks that fail a gateway with this defect."""
    others = {"admin": keys.gateway.key, "revoked": keys.revoked}
    target_of = suite["resource_target"].Target
    # A proxy that waits for the body of a request never answers without it.
    patch.setattr(suite["resource_checks"], "_SECONDS", 0.1)
    with standing_between(keys, defect) as url, target_of(url, keys.own, others) as target:
        found = suite["resource_server"].run(target, only)
    return {each.check.name for each in found if each.violations}


def test_each_check_has_a_defect_that_it_finds(suite: Any) -> None:
    every = {each.name for each in suite["resource_server"].CHECKS}
    needs_tokens = {"expired-token", "foreign-audience", "insufficient-scope"}
    # What a list leaves out is called in `unknown-tool` too.
    assert every - needs_tokens - {"callable-is-listed"} == {name for name, _ in DEFECTS}


def test_the_proxy_alone_changes_nothing(suite: Any, keys: Keys, monkeypatch: Any) -> None:
    """It waits for bodies, which one check does not allow."""
    assert failed(suite, keys, monkeypatch, NO_DEFECT) <= {"before-the-body"}


@pytest.mark.parametrize(("check", "defect"), DEFECTS)
def test_a_defect_is_found(
    suite: Any, keys: Keys, monkeypatch: Any, check: str, defect: Defect
) -> None:
    only = (
        (check, "no-token", "invalid-token")
        if check in {"problems", "no-token-in-answers"}
        else (check,)
    )
    assert check in failed(suite, keys, monkeypatch, defect, *only)
