"""What a mock remembers: in a file, over restarts, and for several processes at once."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.mock import state as mock_state
from gateway.backends.mock.application import MockOptions, open_mock
from gateway.backends.mock.state import StoredState
from gateway.contract.mock import MockMessage
from gateway.errors import ConfigurationError
from tests.clocks import NOW


def message(number):
    return MockMessage(id=f"m-{number}", event="happened", payload={"number": number})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mocks" / "avinode.db"


@given(st.lists(st.integers(0, 60), max_size=30), st.lists(st.integers(0, 70), max_size=10))
def test_each_message_is_given_once_in_the_order_of_its_moment(delays, looks):
    state = StoredState()
    for number, delay in enumerate(delays):
        state.later(NOW + timedelta(minutes=delay), message(number))
    found = []
    for look in [*sorted(looks), 60]:
        now = NOW + timedelta(minutes=look)
        due = state.due(now)
        assert all(delays[each.payload["number"]] <= look for each in due)
        found += due
    expected = sorted(range(len(delays)), key=lambda number: (delays[number], number))
    assert [each.payload["number"] for each in found] == expected


def test_those_farthest_off_are_not_kept(monkeypatch):
    monkeypatch.setattr(mock_state, "MAX_MESSAGES", 3)
    state = StoredState()
    for number in (5, 4, 3, 2, 1):
        state.later(NOW + timedelta(minutes=number), message(number))
    due = state.due(NOW + timedelta(hours=1))
    assert [each.id for each in due] == ["m-1", "m-2", "m-3"]


def test_everything_is_there_after_a_restart_and_no_id_is_given_twice(file: Path) -> None:
    first = StoredState(file)
    with first.transaction(NOW):
        assert first.new_id("arfq") == "arfq-10000001"
        row = {"at": NOW, "deadline": datetime(9999, 12, 31, tzinfo=UTC), "of": [1, {"a": None}]}
        first.add("threads", "arfq-10000001", row)
    # Nothing is closed: the process was killed.
    second = StoredState(file)
    assert second.find("threads", "arfq-10000001") == row
    assert second.new_id("arfq") == "arfq-10000002"
    assert second.latest() == NOW


def test_a_message_that_was_not_sent_is_given_again_after_a_restart(file: Path) -> None:
    first = StoredState(file)
    for number in (1, 2):
        first.later(NOW, message(number))
    assert [each.id for each in first.due(NOW)] == ["m-1", "m-2"]
    first.sent(message(1))
    assert [each.id for each in StoredState(file).due(NOW)] == ["m-2"]


@pytest.mark.parametrize("is_sent_here", [True, False])
def test_no_message_takes_the_place_of_another(file: Path, is_sent_here: bool) -> None:
    """No matter who sent the earlier one, the later one is given."""
    serving, worker = StoredState(file), StoredState(file)
    serving.later(NOW, message(1))
    assert [each.id for each in serving.due(NOW)] == ["m-1"]
    (serving if is_sent_here else worker).sent(message(1))
    worker.later(NOW, message(2))
    assert [each.id for each in serving.due(NOW)] == ["m-2"]


def test_what_is_no_longer_kept_is_no_longer_counted_as_given(monkeypatch) -> None:
    monkeypatch.setattr(mock_state, "MAX_MESSAGES", 2)
    state = StoredState()
    for number in range(5):
        state.later(NOW - timedelta(minutes=number), message(number))
        state.due(NOW)
    assert len(state._returned) == 2


def test_a_request_whose_transaction_the_database_ended_fails_as_it_did(file: Path) -> None:
    state = StoredState(file)

    def fail() -> None:
        with state.transaction(NOW):
            state.new_id("arfq")
            # As SQLite does by itself when the disk is full.
            state._run("INSERT OR ROLLBACK INTO clock VALUES (2, 0)")

    with pytest.raises(ConfigurationError, match="CHECK constraint"):
        fail()
    assert state.new_id("arfq") == "arfq-10000001"


def test_a_request_that_fails_leaves_nothing(file: Path) -> None:
    state = StoredState(file)

    def fail() -> None:
        with state.transaction(NOW):
            state.new_id("arfq")
            state.add("threads", "x", {})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert state.find("threads", "x") is None
    assert state.new_id("arfq") == "arfq-10000001"


def test_two_processes_see_what_the_other_wrote(file: Path) -> None:
    serving, worker = StoredState(file), StoredState(file)
    with serving.transaction(NOW):
        serving.add("threads", "x", {"v": serving.new_id("a")})
    assert worker.find("threads", "x") == {"v": "a-10000001"}
    with worker.transaction(NOW):
        assert worker.new_id("a") == "a-10000002"
    assert serving.new_id("a") == "a-10000003"


def test_reading_makes_no_file(file: Path) -> None:
    state = StoredState(file)
    with state.transaction(NOW):
        assert state.find("threads", "x") is None
    assert (state.due(NOW), state.latest()) == ([], None)
    assert not file.exists()


def test_what_is_found_is_a_copy(file: Path) -> None:
    state = StoredState(file)
    state.add("threads", "x", {"ids": [1]})
    (state.find("threads", "x") or {})["ids"].append(2)
    assert state.find("threads", "x") == {"ids": [1]}


def test_a_table_is_bounded_in_bytes_and_the_oldest_rows_go(monkeypatch) -> None:
    monkeypatch.setattr(mock_state, "MAX_TABLE_BYTES", 1000)
    state = StoredState()
    for number in range(50):
        state.add("mails", str(number), {"raw": "x" * 90})
        state.add("mails", str(number), {"raw": "y" * 90})
    kept = [number for number in range(50) if state.find("mails", str(number))]
    assert kept == list(range(50 - len(kept), 50))
    assert 8 <= len(kept) <= 10
    state.add("mails", "large", {"raw": "z" * 5000})
    assert state.find("mails", "large"), "the newest row is kept, however large it is"
    assert state.find("mails", "49") is None


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"\0" * 4096])
def test_a_file_that_cannot_be_read_is_an_error_with_a_fix(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match="move the file away") as caught:
        StoredState(file).find("threads", "x")
    assert str(file) in str(caught.value.detail)


def test_a_file_of_another_version_is_refused_and_left_alone(file: Path) -> None:
    StoredState(file).new_id("a")
    with sqlite3.connect(file) as other:
        other.execute("PRAGMA user_version = 7")
    with pytest.raises(ConfigurationError, match="another version"):
        StoredState(file).new_id("a")


def test_rows_are_found_by_the_beginning_of_their_ids_in_the_order_they_came(file: Path) -> None:
    state = StoredState(file)
    assert state.rows("pets") == []
    with state.transaction(NOW):
        for name in ("/a/2", "/b/1", "/a/1"):
            state.add("pets", name, {"name": name})
        state.add("pets", "/a/2", {"name": "changed"})
        state.add("visits", "/a/1", {})
    assert state.rows("pets", "/a/") == [("/a/2", {"name": "changed"}), ("/a/1", {"name": "/a/1"})]
    assert [row_id for row_id, _ in state.rows("pets")] == ["/a/2", "/b/1", "/a/1"]


OPTIONS = MockOptions()


def test_a_time_that_is_set_is_never_before_what_is_remembered(library, clock, tmp_path) -> None:
    file = tmp_path / "library.db"
    start = NOW - timedelta(days=400)
    first = open_mock(library, clock, file=file, start=start, options=OPTIONS)
    assert first.clock.now() == start
    state = StoredState(file)
    with state.transaction(start + timedelta(days=2)):
        state.new_id("book")
    again = open_mock(library, clock, file=file, start=start, options=OPTIONS)
    assert again.clock.now() == start + timedelta(days=2)
    later = open_mock(library, clock, file=file, start=NOW, options=OPTIONS)
    assert later.clock.now() == NOW


def test_without_a_time_of_its_own_it_has_the_gateways(library, clock, tmp_path) -> None:
    mock = open_mock(library, clock, file=None, start=None, options=OPTIONS)
    clock.advance(60)
    assert mock.clock.now() == clock.now()


def test_at_speed_0_its_time_stands_still(library, clock) -> None:
    still = MockOptions(speed=0)
    mock = open_mock(library, clock, file=None, start=NOW, options=still)
    clock.advance(60)
    assert mock.clock.now() == NOW


def test_a_file_that_cannot_be_used_is_refused_at_the_start(library, clock, tmp_path) -> None:
    file = tmp_path / "library.db"
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(ConfigurationError, match="move the file away"):
        open_mock(library, clock, file=file, start=None, options=OPTIONS)
