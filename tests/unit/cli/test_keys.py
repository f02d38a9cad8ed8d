"""`gateway keys`: made once, listed without the key, revoked."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def created(cli):
    """A key of an agent, as `create --json` prints it."""
    return json.loads(cli("keys", "create", "reader", "--label", "laptop", "--json").out)


def test_a_key_is_printed_alone_so_that_it_can_be_piped(cli):
    code, out, err = cli("keys", "create", "reader")
    assert code == 0
    assert out.startswith("gw_")
    assert len(out.split()) == 1
    assert out.strip() not in err


def test_a_listed_key_shows_everything_but_itself(cli, created):
    out = cli("keys", "list", "--json").out
    [listed] = json.loads(out)
    assert (listed["id"], listed["agent"], listed["label"]) == (created["id"], "reader", "laptop")
    assert listed["revoked_at"] is None
    assert created["key"] not in out


def test_a_revoked_key_says_when(cli, created):
    assert cli("keys", "revoke", created["id"]) == (0, f"{created['id']} is revoked\n", "")
    [listed] = json.loads(cli("keys", "list", "--json").out)
    assert listed["revoked_at"] is not None
    assert cli("keys", "revoke", created["id"]).code == 1


def test_an_unknown_key_cannot_be_revoked(cli):
    code, out, err = cli("keys", "revoke", "key_none")
    assert (code, out) == (1, "")
    assert err == "error: no active key has the id key_none\nfix: see `gateway keys list`\n"


def test_a_key_needs_an_agent_of_the_policies(cli):
    code, _, err = cli("keys", "create", "raeder")
    assert code == 2
    assert "fix: did you mean reader?" in err


def test_a_file_that_is_no_database_is_one_clear_error(cli, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "gateway.db").write_bytes(b"not a database" * 100)
    code, _, err = cli("keys", "list")
    assert code == 2
    assert len(err.splitlines()) == 2
    assert "gateway.db" in err


def test_a_label_that_is_no_text_is_wrong_usage(cli, tmp_path):
    code, out, err = cli("keys", "create", "reader", "--label", "\udcff")
    assert (code, out) == (2, "")
    assert "'--label': is not text in UTF-8" in err
    assert not (tmp_path / "data").exists()


def test_what_is_done_to_keys_is_recorded_with_its_outcome_and_never_the_key(cli, created):
    cli("keys", "revoke", created["id"])
    cli("keys", "revoke", "key_none")
    cli("keys", "create", "raeder")
    shown = cli("audit", "list", "--json").out
    records = json.loads(shown)["items"]
    found = [(each["operation"], each["outcome"], each["status"]) for each in records[::-1]]
    # The start that serves `audit list` makes the first key, and may be recorded by then.
    mine = {"operator.keys.create", "operator.keys.revoke"}
    assert [each for each in found if each[0] in mine] == [
        ("operator.keys.create", "ok", 200),
        ("operator.keys.revoke", "ok", 200),
        ("operator.keys.revoke", "PATH_NOT_FOUND", 404),
        ("operator.keys.create", "VALIDATION_ERROR", 400),
    ]
    assert created["key"] not in shown


def test_a_list_makes_no_database(cli, tmp_path):
    code, out, err = cli("keys", "list", "--json", "--data", tmp_path / "elsewhere")
    assert (code, json.loads(out)) == (0, [])
    assert "there is no database" in err
    assert not (tmp_path / "elsewhere").exists()
