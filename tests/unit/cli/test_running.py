"""Commands that ask a running gateway find that of the data folder, and its key."""

import pytest

from gateway.app.processes.record import recorded
from gateway.cli.remote import RunningTarget, target_of

FLAGS = {"url": None, "key_file": None}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GATEWAY_KEY", raising=False)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "bootstrap-key").write_text("key-of-the-administrator\n")
    return folder


@pytest.mark.parametrize(
    ("served", "asked"),
    [
        ("http://127.0.0.1:8700", "http://127.0.0.1:8700"),
        ("http://0.0.0.0:8700", "http://127.0.0.1:8700"),
        ("http://[::]:8700", "http://[::1]:8700"),
    ],
)
def test_the_gateway_of_the_data_folder_is_asked_with_its_key(data, served, asked):
    with recorded(data, served):
        assert target_of({**FLAGS, "data": data}) == RunningTarget(
            asked, "key-of-the-administrator"
        )


def test_a_key_that_is_set_comes_first(data, monkeypatch):
    monkeypatch.setenv("GATEWAY_KEY", "key-of-an-agent-0123456789")
    with recorded(data, "http://127.0.0.1:1"):
        assert target_of({**FLAGS, "data": data}).key == "key-of-an-agent-0123456789"


def test_another_gateway_never_gets_the_key_of_the_folder(data):
    with recorded(data, "http://127.0.0.1:1"):
        found = target_of({**FLAGS, "url": "https://gateway.example.com/", "data": data})
    assert found == RunningTarget("https://gateway.example.com", None)


@pytest.mark.parametrize("command", [("top", "--once"), ("jobs", "list")])
def test_where_nothing_serves_the_way_out_is_named(cli, command):
    code, out, err = cli(*command)
    assert (code, out) == (2, "")
    assert "on this machine\nfix: name one with --url, or its folder with --data\n" in err
