"""The operator's commands, on the database of this folder."""

import json
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from gateway.cli.operating.operator import OperatorClient
from gateway.errors import ConfigurationError

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def endpoint(cli, monkeypatch):
    """An endpoint, as `add --json` prints it."""
    monkeypatch.setenv("GATEWAY_ENDPOINTS_ALLOW", "127.0.0.0/8")
    added = cli(
        "endpoints", "add", "http://127.0.0.1:9/hooks", "--type", "gateway.book.*", "--json"
    )
    return json.loads(added.out)


def test_nothing_yet_is_an_empty_list_and_no_error(cli):
    # The first one also reports the key that it makes.
    assert json.loads(cli("webhooks", "list", "--json").out) == []
    assert json.loads(cli("dead-letters", "redrive", "--all", "--json").out) == []
    for command in (
        ("webhooks", "list"),
        ("webhooks", "quarantine"),
        ("dead-letters", "list"),
        ("endpoints", "list"),
    ):
        assert cli(*command) == (0, "", "none\n"), command
    for command in (
        ("webhooks", "quarantine", "--revalidate"),
        ("dead-letters", "redrive", "--all"),
    ):
        assert cli(*command) == (0, "there is nothing to do\n", ""), command


@pytest.mark.parametrize(
    ("command", "reported"),
    [
        (("webhooks", "show", "none"), "There is no webhook with this id."),
        (("endpoints", "show", "none"), "There is no endpoint with this id."),
    ],
)
def test_what_is_not_there_is_one_line_and_the_fix(cli, command, reported):
    code, out, err = cli(*command)
    assert (code, out) == (1, "")
    first, second = err.strip().splitlines()[-2:]
    assert first.startswith("error: PATH_NOT_FOUND: ")
    assert reported in first
    assert second.startswith("fix: ")


def test_one_of_several_that_is_refused_does_not_keep_the_others(cli):
    code, out, _ = cli("webhooks", "replay", "none", "nor-this", "--json")
    assert code == 1
    assert [each["problem"]["code"] for each in json.loads(out)] == ["PATH_NOT_FOUND"] * 2


@pytest.mark.parametrize(
    "arguments", [(), ("--all", "some-job"), ("some-job", "--kind", "webhook")]
)
def test_redriving_needs_ids_or_all_of_a_kind(cli, arguments):
    code, out, err = cli("dead-letters", "redrive", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


def test_an_endpoint_is_listed_without_its_secret(cli, endpoint):
    [listed] = json.loads(cli("endpoints", "list", "--json").out)
    assert (listed["id"], listed["event_types"]) == (endpoint["id"], ["gateway.book.*"])
    assert endpoint["secret"] not in cli("endpoints", "show", endpoint["id"]).out


def test_a_new_secret_is_printed_alone_so_that_it_can_be_piped(cli, endpoint):
    code, out, err = cli("endpoints", "rotate", endpoint["id"], "--grace-hours", 0)
    assert code == 0
    assert out.startswith("whsec_")
    assert len(out.split()) == 1
    assert out.strip() not in err
    assert out.strip() != endpoint["secret"]


def test_an_endpoints_filter_is_shown_and_changed(cli, endpoint, monkeypatch):
    name = endpoint["id"]
    only = json.dumps({"properties": {"isbn": {"type": "string"}}, "required": ["isbn"]})
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(only.encode())))
    assert cli("endpoints", "change", name, "--filter", "-") == (0, f"{name} is active\n", "")
    shown = cli("endpoints", "show", name)
    assert f"filter: {json.dumps(json.loads(only), separators=(',', ':'))}\n" in shown.out
    changed = cli("endpoints", "change", name, "--no-filter", "--json")
    assert json.loads(changed.out)["filter"] is None
    code, out, err = cli("endpoints", "change", name, "--filter", only.replace("isbn", "isbm"))
    assert (code, out) == (1, "")
    assert "  /filter: no event of the type gateway.book.* has such data" in err


def test_an_endpoints_headers_come_from_a_file_and_their_values_are_not_shown(cli, endpoint):
    name, file = endpoint["id"], Path("headers.json")
    file.write_text(json.dumps({"Authorization": "Bearer canary-51", "x-edge": "canary-52"}))
    said = [
        cli("endpoints", "change", name, "--headers", file),
        cli("endpoints", "show", name),
        cli("endpoints", "show", name, "--json"),
        cli("endpoints", "list", "--json"),
        cli("endpoints", "add", "http://127.0.0.1:9/", "--headers", file, "--json"),
    ]
    assert "headers: authorization, x-edge\n" in said[1].out
    assert json.loads(said[4].out)["headers"].keys() == {"authorization", "x-edge"}
    file.write_text(json.dumps({"webhook-id": "canary-53"}))
    said.append(cli("endpoints", "change", name, "--headers", file))
    assert "  /headers/webhook-id: is set by the gateway" in said[-1].err
    file.write_text("{}")
    assert cli("endpoints", "change", name, "--headers", file).code == 0
    assert "headers:" not in cli("endpoints", "show", name).out
    assert "canary" not in repr(said)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--filter", "{}", "--no-filter"),
        ("--filter", "{a"),
        ("--filter", "[]"),
        ("--headers", "no-such-file.json"),
        ("--headers", "."),
        ("--headers", '{"x-edge": "a"}'),
    ],
)
def test_a_change_needs_one_object(cli, endpoint, options):
    code, out, err = cli("endpoints", "change", endpoint["id"], *options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


def test_an_endpoint_that_does_not_answer_fails_its_test(cli, endpoint):
    code, out, _ = cli("endpoints", "test", endpoint["id"])
    assert code == 1
    assert out.startswith(endpoint["id"])


def test_a_replay_asks_for_every_page_and_says_where_it_was_interrupted(cli, monkeypatch):
    page = {"replay": "r", "started": 500, "skipped": 1}
    answers = [page | {"next": "eA=="}, page | {"next": None}, page | {"next": "eB=="}]
    asked = []

    async def _ask(_operator, method, path, *, body):
        asked.append((method, path, body["after"]))
        if not answers:
            raise ConfigurationError("it did not answer")
        return answers.pop(0)

    monkeypatch.setattr(OperatorClient, "ask", _ask)
    code, out, _ = cli("endpoints", "replay", "e", "--since", "1h")
    said = "e is sent 1,000 events again; 2 events left out, on the way already\n"
    assert (code, out) == (0, said)
    path = "/operator/endpoints/e/replay"
    assert asked == [("POST", path, None), ("POST", path, "eA==")]
    code, out, err = cli("endpoints", "replay", "e", "--since", "1h", "--after", "eA==", "--json")
    assert (code, out) == (2, "")
    assert "the replay is not complete; to continue it, add --after eB==\n" in err


def test_a_replay_is_reported_as_json(cli, endpoint):
    out = cli("endpoints", "replay", endpoint["id"], "--since", "1h", "--json").out
    found = json.loads(out)
    assert (found["started"], found["skipped"]) == (0, 0)
    assert len(found["replay"]) == 36


def test_an_interrupted_replay_says_how_to_continue(cli, endpoint):
    code, out, err = cli("endpoints", "replay", endpoint["id"], "--since", "1h", "--after", "eA==")
    assert (code, out) == (1, "")
    assert "to continue it, add --after eA==\n" in err
    assert "  /after: " in err


@pytest.mark.parametrize("options", [(), ("--since", "now"), ("--since", "1h", "--until", "x")])
def test_a_replay_needs_times(cli, endpoint, options):
    code, out, err = cli("endpoints", "replay", endpoint["id"], *options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


def test_an_endpoint_is_switched_and_removed(cli, endpoint):
    name = endpoint["id"]
    assert cli("endpoints", "disable", name) == (0, f"{name} is disabled\n", "")
    assert cli("endpoints", "enable", name) == (0, f"{name} is active\n", "")
    assert cli("endpoints", "remove", name) == (0, f"{name} is removed\n", "")
    assert json.loads(cli("endpoints", "list", "--json").out) == []


def test_an_address_that_must_not_be_reached_is_refused_at_its_place(cli):
    code, out, err = cli("endpoints", "add", "http://127.0.0.1:9/hooks")
    assert (code, out) == (1, "")
    assert "/url: " in err
    assert "Traceback" not in err


def test_a_gateway_that_is_not_there_is_one_line(cli):
    code, out, err = cli("webhooks", "list", "--url", "http://127.0.0.1:9")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "error: http://127.0.0.1:9 did not answer (ConnectError)",
        "fix: start the gateway there, or correct --url",
    ]
