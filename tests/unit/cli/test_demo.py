"""What a demonstration takes of the environment of a project."""

import json

import pytest

from gateway.cli.serving import serve

STATE = {
    "GATEWAY_DATABASE_URL": "postgresql://db.example/own",
    "GATEWAY_WORKSPACE_URL": "postgresql://db.example/own",
    "GATEWAY_REDIS_URL": "redis://redis.example:6379/0",
}


def test_its_agents_get_keys_by_the_name_of_its_data(cli, monkeypatch, tmp_path):
    """The folder has no project, and what it serves is in the library."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GATEWAY_DATABASE_URL", STATE["GATEWAY_DATABASE_URL"])
    made = cli("keys", "create", "charter_broker", "--data", ".gateway-demo")
    assert (made.code, made.err.split(" for ")[1][:14]) == (0, "charter_broker")
    listed = cli("keys", "list", "--json", "--data", ".gateway-demo")
    assert [each["agent"] for each in json.loads(listed.out)] == ["charter_broker"]


@pytest.mark.parametrize("suffix", ["", "_FILE"])
def test_it_takes_no_part_in_the_state_of_a_project(cli, monkeypatch, tmp_path, suffix):
    """A Redis counts the limits of the project's agents."""
    served = []
    monkeypatch.setattr(serve, "serve_until_stopped", served.append)
    for name, url in STATE.items():
        (tmp_path / name).write_text(url)
        monkeypatch.setenv(name + suffix, str(tmp_path / name) if suffix else url)
    assert cli("demo").code == 0
    [settings] = served
    assert settings.redis_url is None
    assert settings.database.startswith("sqlite")
    assert settings.workspace.startswith("sqlite")
