"""`gateway backup` and `gateway restore` as commands: what they ask for and what they say."""

import asyncio
import json
import sqlite3
from contextlib import closing

import pytest

from gateway.backup import archive
from gateway.cli.operating.backup import state_of
from gateway.settings import read_settings
from tests.unit.backup.state import PASSPHRASE, made_state, put_gateway


@pytest.fixture(autouse=True)
def cheap_key_derivation(monkeypatch):
    monkeypatch.setattr(archive, "_COST", 2)
    monkeypatch.setenv("GATEWAY_BACKUP_PASSPHRASE", PASSPHRASE)


@pytest.fixture
def data(tmp_path):
    state = made_state(tmp_path / "data")
    asyncio.run(put_gateway(state))
    return state.data


def test_there_and_back(cli, data, tmp_path):
    file, new = tmp_path / "b.gwb", tmp_path / "new"
    code, out, err = cli("backup", "create", file, "--data", data)
    assert (code, err) == (0, "")
    assert out.startswith(f"{file}: written, {file.stat().st_size} bytes\nmade ")
    assert out.endswith("databases: gateway (sqlite)\n")
    code, out, _ = cli("backup", "verify", file, "--json")
    assert code == 0
    assert json.loads(out)["manifest"]["databases"].keys() == {"gateway"}
    code, out, _ = cli("restore", file, "--data", new)
    assert code == 0
    assert out.startswith(f"{file}: restored into {new}, ")
    assert (new / "gateway.db").is_file()
    assert PASSPHRASE not in out


def test_calls_that_waited_are_counted(cli, data, tmp_path):
    with closing(sqlite3.connect(data / "gateway.db")) as database, database:
        names = "id, kind, subject, lane, state, attempts, max_attempts, run_at, claim_seq"
        row = "'j', 'call', 'c', 'mail.send', 'pending', 0, 5, 0, 0, 0, 0"
        database.execute(f"INSERT INTO jobs ({names}, created_at, updated_at) VALUES ({row})")  # noqa: S608 - constants
    file = tmp_path / "b.gwb"
    assert cli("backup", "create", file, "--data", data)[0] == 0
    code, out, _ = cli("restore", file, "--data", tmp_path / "new")
    assert code == 0
    assert "may have been made since: 1; those that change something end as outcome_unknown" in out
    _, out, _ = cli("restore", file, "--data", tmp_path / "newer", "--run-pending", "--json")
    assert json.loads(out)["calls_in_doubt"] == 0


def test_a_table_of_jobs_of_the_workspace_stays_as_it_is(cli, data, tmp_path):
    with closing(sqlite3.connect(data / "workspace.db")) as database, database:
        database.execute("CREATE TABLE jobs (title TEXT, state TEXT)")
        database.execute("INSERT INTO jobs VALUES ('Paint it', 'pending')")
    file, new = tmp_path / "b.gwb", tmp_path / "new"
    assert cli("backup", "create", file, "--data", data)[0] == 0
    code, out, err = cli("restore", file, "--data", new)
    assert (code, err) == (0, "")
    assert "workspace (sqlite)" in out
    with closing(sqlite3.connect(new / "workspace.db")) as database:
        assert database.execute("SELECT * FROM jobs").fetchall() == [("Paint it", "pending")]


def test_nothing_is_written_unencrypted(cli, data, tmp_path, monkeypatch):
    monkeypatch.delenv("GATEWAY_BACKUP_PASSPHRASE")
    code, _, err = cli("backup", "create", tmp_path / "b.gwb", "--data", data)
    assert code == 2
    assert "there is no passphrase, and a backup contains secrets" in err
    assert "GATEWAY_BACKUP_PASSPHRASE_FILE" in err
    assert not (tmp_path / "b.gwb").exists()


def test_a_short_passphrase_is_refused(cli, data, tmp_path, monkeypatch):
    monkeypatch.setenv("GATEWAY_BACKUP_PASSPHRASE", "short")
    code, _, err = cli("backup", "create", tmp_path / "b.gwb", "--data", data)
    assert code == 2
    assert "GATEWAY_BACKUP_PASSPHRASE: must be a line of 12 to 1024 characters" in err
    assert "short" not in err


def test_the_passphrase_comes_from_a_file_too(cli, data, tmp_path, monkeypatch):
    monkeypatch.delenv("GATEWAY_BACKUP_PASSPHRASE")
    (tmp_path / "passphrase").write_text(f"{PASSPHRASE}\n", "utf-8")
    monkeypatch.setenv("GATEWAY_BACKUP_PASSPHRASE_FILE", str(tmp_path / "passphrase"))
    assert cli("backup", "create", tmp_path / "b.gwb", "--data", data)[0] == 0
    monkeypatch.delenv("GATEWAY_BACKUP_PASSPHRASE_FILE")
    monkeypatch.setenv("GATEWAY_BACKUP_PASSPHRASE", PASSPHRASE)
    assert cli("backup", "verify", tmp_path / "b.gwb")[0] == 0


@pytest.mark.parametrize("command", [("backup", "verify"), ("restore",)])
def test_a_file_that_is_no_backup_is_one_clear_error(cli, tmp_path, command):
    (tmp_path / "some").write_text("some text", "utf-8")
    for name, problem in (("some", "is not a backup"), ("none", "cannot be read")):
        code, _, err = cli(*command, tmp_path / name)
        assert code == 2
        assert err.startswith(f"error: {tmp_path / name} {problem}")
        assert "\nfix: " in err


def test_a_database_in_memory_cannot_be_copied(cli, data, tmp_path, monkeypatch):
    monkeypatch.setenv("GATEWAY_DATABASE_URL", "memory:")
    code, _, err = cli("backup", "create", tmp_path / "b.gwb", "--data", data)
    assert code == 2
    assert "is in memory" in err


def test_tables_that_show_entities_are_no_tables_of_the_workspace(tmp_path):
    state = state_of(read_settings({}, None, {"data": tmp_path}))
    workspace = next(place for place in state.databases if place.name == "workspace")
    names = {table.name for table in workspace.tables.tables}
    assert "client_cache" in names
    assert not names & {"quotes", "bookings", "rfqs"}
