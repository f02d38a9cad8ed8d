"""`gateway call`: one call in this process, or at a gateway elsewhere."""

import io
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES

PROBLEM = {
    "type": "/problems/tool-not-found",
    "title": "There is no such tool",
    "status": 404,
    "detail": "There is no such tool.",
    "code": "TOOL_NOT_FOUND",
    "request_id": "1",
    "retryable": False,
}


@pytest.fixture(scope="module")
def document():
    """What a gateway says of the tools that it has."""
    return open_catalogue("generated", HANDLER_PACKAGES).openapi


@pytest.fixture
def remote(document):
    """A server that answers every POST alike and keeps what it was sent."""

    class _Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            self.server.keys.append(self.headers["authorization"])
            self.server.received = (self.path, self.headers["authorization"], body)
            self.server.idempotency_key = self.headers["idempotency-key"]
            self._send(*self.server.answer)

        def do_GET(self):
            self.server.keys.append(self.headers["authorization"])
            is_document = self.path == "/openapi.json"
            self._send(*((200, self.server.document) if is_document else (404, b"{}")))

        def _send(self, status, answer):
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            """Tests print nothing."""

    server = HTTPServer(("127.0.0.1", 0), _Answer)
    server.url = f"http://127.0.0.1:{server.server_port}"
    server.answer = (200, b'{"greeting":"Hello, Ada!"}')
    server.document = document
    server.keys = []
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_result_is_printed_as_json(cli):
    code, out, err = cli("call", "example.greet", "--json", '{"name": "Ada"}')
    assert code == 0
    assert json.loads(out) == {"greeting": "Hello, Ada!"}
    assert "bootstrap-key" in err


def test_arguments_can_come_from_standard_input(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"name": "Grace"}')))
    assert (
        json.loads(cli("call", "example_greet", "--json", "-").out)["greeting"] == "Hello, Grace!"
    )


def test_a_refused_call_prints_the_problem_and_what_to_do(cli):
    code, out, err = cli("call", "example.greet", "--json", '{"nme": "Ada"}')
    assert code == 1
    problem = json.loads(out)
    assert problem["code"] == "VALIDATION_ERROR"
    assert {each["pointer"] for each in problem["errors"]} == {"/name", "/nme"}
    assert "error: VALIDATION_ERROR: " in err
    assert "fix: " in err


@pytest.mark.parametrize("arguments", ["{", "[1]", '{"name": "a", "name": "b"}', "\udcff"])
def test_arguments_that_are_no_json_object_are_refused_like_at_every_transport(cli, arguments):
    code, out, _ = cli("call", "example.greet", "--json", arguments)
    assert code == 1
    assert json.loads(out)["code"] == "VALIDATION_ERROR"


def test_an_agent_calls_only_what_it_is_granted(cli):
    code, out, _ = cli("call", "example.greet", "--agent", "flight_search")
    assert code == 1
    assert json.loads(out)["code"] == "TOOL_NOT_FOUND"


def test_an_agent_that_no_policy_knows_is_wrong_usage(cli):
    code, out, err = cli("call", "example.greet", "--agent", "somebody")
    assert (code, out) == (2, "")
    assert "the policies have no agent 'somebody'" in err


def test_a_remote_call_is_a_rest_call_with_the_key(cli, remote, monkeypatch):
    monkeypatch.setenv("GATEWAY_KEY", "canary-0123456789")
    code, out, _ = cli("call", "example.greet", "--json", '{"name":"Ada"}', "--url", remote.url)
    assert code == 0
    assert json.loads(out) == {"greeting": "Hello, Ada!"}
    assert remote.received == ("/v1/example/greet", "Bearer canary-0123456789", b'{"name":"Ada"}')


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize(
    "command",
    [
        ("call", "example.greet"),
        ("jobs", "list"),
        ("audit", "list"),
        ("top", "--once", "--interval", "0.1"),
    ],
)
def test_no_proxy_of_the_environment_sees_a_key(cli, remote, monkeypatch, command, name):
    """The proxy answers nothing: who asks it is told that there is no gateway."""
    monkeypatch.setenv("GATEWAY_KEY", "canary-0123456789")
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    _, _, err = cli(*command, "--url", remote.url)
    assert "ConnectError" not in err
    assert remote.keys == ["Bearer canary-0123456789"] * len(remote.keys) != []


def test_a_remote_tool_is_called_by_its_mcp_name_too(cli, remote):
    assert cli("call", "example_greet", "--url", remote.url).code == 0
    assert remote.received[0] == "/v1/example/greet"


def test_an_mcp_name_that_the_remote_does_not_know_is_met_with_the_nearest(cli, remote):
    outcome = cli("call", "example_gret", "--url", remote.url)
    assert outcome == (
        1,
        "",
        "error: there is no tool 'example_gret'\nfix: did you mean example_greet?\n",
    )


def test_a_remote_that_reports_no_names_is_called_by_operation_ids(cli, remote):
    remote.document = b'{"paths": {"/v1/example/greet": {}}}'
    code, _, err = cli("call", "example_greet", "--url", remote.url)
    assert code == 2
    assert "fix: call the tool by its operation id" in err


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("example.greet?x=1", "/v1/example/greet%3Fx%3D1"),
        ("example.a/../b", "/v1/example/a%2F..%2Fb"),
        ("example.\udcff", "/v1/example/%FF"),
    ],
)
def test_an_operation_cannot_change_the_rest_of_the_address(cli, remote, name, path):
    cli("call", name, "--url", remote.url)
    assert remote.received[0] == path


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--url", "http://127.0.0.1:1", "--agent", "flight_search"), "--agent and --url exclude"),
        (("--key-file", "key"), "--key-file requires --url"),
    ],
)
def test_options_that_would_be_ignored_are_refused(cli, options, words):
    code, out, err = cli("call", "example.greet", *options)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize("name", ["example.gret", "example_gret"])
def test_an_unknown_tool_leaves_no_data_folder_behind(cli, tmp_path, name):
    code, out, err = cli("call", name)
    assert (code, out) == (1, "")
    assert "fix: did you mean " in err
    assert not (tmp_path / "data").exists()


def test_a_key_file_wins_over_the_environment(cli, remote, monkeypatch, tmp_path):
    monkeypatch.setenv("GATEWAY_KEY", "canary-0123456789")
    (tmp_path / "key").write_text("of-the-file\n", "utf-8")
    cli("call", "example.greet", "--url", remote.url, "--key-file", tmp_path / "key")
    assert remote.received[1] == "Bearer of-the-file"


def test_a_remote_refusal_is_a_refusal_here(cli, remote):
    remote.answer = (404, json.dumps(PROBLEM).encode())
    code, out, err = cli("call", "example.greet", "--url", remote.url)
    assert code == 1
    assert json.loads(out) == PROBLEM
    assert "error: TOOL_NOT_FOUND: There is no such tool." in err


@pytest.mark.parametrize("answer", [b"<html>Bad gateway</html>", b"[]"])
def test_what_no_gateway_would_answer_is_distinguished(cli, remote, answer):
    remote.answer = (502, answer)
    code, out, err = cli("call", "example.greet", "--url", remote.url)
    assert (code, out) == (2, "")
    assert "did not answer as a gateway" in err


def test_a_gateway_that_is_not_there_is_one_clear_error(cli):
    code, _, err = cli("call", "example.greet", "--url", "http://127.0.0.1:1")
    assert code == 2
    assert err.startswith("error: http://127.0.0.1:1 did not answer (ConnectError)\nfix: ")


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://[", "https://u:p@host"])
def test_an_address_that_is_none_is_refused(cli, url):
    code, _, err = cli("call", "example.greet", "--url", url)
    assert code == 2
    assert err.startswith("error: --url is not a URL\n")


@pytest.mark.parametrize("content", [None, "", "two\nlines"])
def test_an_invalid_key_file_is_refused_without_repeating_it(cli, tmp_path, content):
    path = tmp_path / "key"
    if content is not None:
        path.write_text(content, "utf-8")
    code, _, err = cli("call", "example.greet", "--url", "http://127.0.0.1:1", "--key-file", path)
    assert code == 2
    assert err.startswith("error: --key-file ")
    assert "two" not in err


def test_a_call_that_writes_can_be_repeated_by_its_key(cli, remote):
    call = ("call", "ntfy.send_push_notification", "--json", '{"message": "Landed"}')
    first, second, other = (cli(*call, "--idempotency-key", key) for key in ("k1", "k1", "k2"))
    assert (first.code, second.code, other.code) == (0, 0, 0)
    assert first.out == second.out != other.out

    cli(*call, "--idempotency-key", "k2", "--url", remote.url)
    assert remote.idempotency_key == "k2"


@pytest.mark.parametrize("key", ["", "a b", "k" * 256])
def test_an_invalid_idempotency_key_is_wrong_usage(cli, key):
    code, _, err = cli("call", "example.greet", "--idempotency-key", key)
    assert code == 2
    assert "1 to 255 visible ASCII characters" in " ".join(err.split())
