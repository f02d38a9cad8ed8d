"""Taking a backup and restoring it, on SQLite and inside one process."""

import asyncio
import base64
import errno
import os
from contextlib import closing
from pathlib import Path

import pytest

from gateway.backup import archive, copies, taking
from gateway.backup.archive import Manifest, verify
from gateway.backup.copies import copy_database
from gateway.backup.restoring import restore_backup
from gateway.backup.state import is_database
from gateway.backup.taking import take_backup
from gateway.errors import StoreError
from gateway.store.sql.sqlite import only_owner, sqlite3
from tests.unit.backup.state import KEY, PASSPHRASE, made_state, put_gateway

MANY = 300
TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE a (n INTEGER, filler BLOB);
CREATE TABLE b (n INTEGER);
"""


@pytest.fixture
def state(tmp_path):
    made = made_state(tmp_path / "old")
    asyncio.run(put_gateway(made))
    return made


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """A key derivation that costs nothing."""
    monkeypatch.setattr(archive, "_COST", 2)


def take(state, file: Path, report=lambda _: None) -> Manifest:
    return asyncio.run(take_backup(state, file, PASSPHRASE, "1.0", report))


def restore(file: Path, state) -> Manifest:
    return asyncio.run(restore_backup(file, state, PASSPHRASE, lambda _: None)).manifest


def test_what_is_there_comes_back_and_nothing_else(state, tmp_path):
    (state.data / "mock").mkdir()
    (state.data / "mock" / "avinode.json").write_text("{}", "utf-8")
    (state.data / "gateway.db.lock").write_text("1", "utf-8")
    (state.data / ".backup-left").write_text("x", "utf-8")
    first = take(state, state.data / "first.gwb")
    second = take(state, state.data / "second.gwb")
    assert first.entries == second.entries, "a backup does not hold the one before it"
    new = made_state(tmp_path / "new")
    assert restore(state.data / "second.gwb", new) == second
    found = {each.relative_to(new.data).as_posix() for each in new.data.rglob("*")}
    files = {"bootstrap-key", "gateway.db", "mock", "mock/avinode.json"}
    assert found == {*files, "gateway.db.lock"}, "the restore has held its own lock"
    assert (new.data / "bootstrap-key").read_text("utf-8") == f"{KEY}\n"
    modes = {each.stat().st_mode & 0o077 for each in [new.data, *new.data.rglob("*")]}
    assert modes == {0}


def test_only_what_lies_beside_a_database_is_left_out(state, tmp_path):
    kept = {"keys.backup-2024/x", "poetry.lock", "a-wal", "b-journal"}
    left_out = {".backup-old/x", "sub/.backup-y", "gateway.db-shm", "gateway.db.lock"}
    for name in (*kept, *left_out):
        (state.data / name).parent.mkdir(exist_ok=True)
        (state.data / name).write_text("x", "utf-8")
    manifest = take(state, tmp_path / "b.gwb")
    files = {name.removeprefix("files/") for name in manifest.entries if "files/" in name}
    assert files == {*kept, "bootstrap-key"}


@pytest.mark.parametrize("name", ["a\udcff", "a\nb"])
def test_a_file_whose_name_cannot_be_kept_is_named(state, tmp_path, name):
    (state.data / name).write_text("x", "utf-8")
    with pytest.raises(StoreError, match="rename the file"):
        take(state, tmp_path / "b.gwb")


def test_what_cannot_be_read_is_not_called_a_lack_of_room(state, tmp_path, monkeypatch):
    (state.data / "shut").write_text("x", "utf-8")
    there = Path.open

    def _open(self, *arguments):
        if self.name == "shut":
            raise PermissionError(13, "Permission denied", str(self))
        return there(self, *arguments)

    monkeypatch.setattr(Path, "open", _open)
    with pytest.raises(StoreError, match="shut cannot be read") as error:
        take(state, tmp_path / "b.gwb")
    assert "room" not in error.value.detail
    assert [each.name for each in tmp_path.iterdir()] == ["old"]


def test_what_appears_while_a_backup_is_made_is_not_replaced(state, tmp_path):
    target = tmp_path / "b.gwb"
    with pytest.raises(StoreError, match="already exists"):
        take(state, target, lambda _: target.write_text("mine", "utf-8"))
    assert target.read_text("utf-8") == "mine"
    assert {each.name for each in tmp_path.iterdir()} == {"old", "b.gwb"}


def test_what_appears_while_a_backup_is_restored_is_not_replaced(state, tmp_path):
    take(state, tmp_path / "b.gwb")
    new = made_state(tmp_path / "new")

    def _appear(_step):
        if new.data.is_dir():
            (new.data / "bootstrap-key").write_text("mine", "utf-8")

    with pytest.raises(StoreError, match="bootstrap-key already exists"):
        asyncio.run(restore_backup(tmp_path / "b.gwb", new, PASSPHRASE, _appear))
    assert (new.data / "bootstrap-key").read_text("utf-8") == "mine"
    assert {each.name for each in new.data.iterdir()} == {"bootstrap-key", "gateway.db.lock"}


def test_a_restore_and_a_server_are_not_at_one_file(state, tmp_path):
    take(state, tmp_path / "b.gwb")
    new = made_state(tmp_path / "new")
    with only_owner(new.data / "gateway.db"), pytest.raises(StoreError, match="is in use"):
        restore(tmp_path / "b.gwb", new)
    restore(tmp_path / "b.gwb", new)


def test_a_restore_that_fails_can_be_repeated(state, tmp_path, monkeypatch):
    (state.data / "mock").mkdir()
    (state.data / "mock" / "avinode.json").write_text("{}", "utf-8")
    take(state, tmp_path / "b.gwb")
    new, link = made_state(tmp_path / "new"), os.link

    def _link(file, target):
        if target.name == "gateway.db":
            raise OSError(28, "No space left on device", str(target))
        link(file, target)

    with monkeypatch.context() as patch:
        patch.setattr("gateway.backup.state.os.link", _link)
        with pytest.raises(StoreError, match=r"gateway\.db cannot be written \(No space"):
            restore(tmp_path / "b.gwb", new)
    assert [each.name for each in new.data.iterdir()] == ["gateway.db.lock"]
    restore(tmp_path / "b.gwb", new)
    assert (new.data / "mock" / "avinode.json").is_file()


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EPERM])
def test_files_come_to_where_no_second_name_can_be_given(state, tmp_path, monkeypatch, code):
    take(state, tmp_path / "b.gwb")
    new, link = made_state(tmp_path / "new"), os.link

    def _link(file, target):
        is_draft = file.name.startswith(".backup-")
        if code == errno.EPERM or (file.name != target.name and not is_draft):
            raise OSError(code, "no link", str(target))
        link(file, target)

    monkeypatch.setattr("gateway.backup.state.os.link", _link)
    restore(tmp_path / "b.gwb", new)
    assert is_database(new.data / "gateway.db")
    assert (new.data / "gateway.db").stat().st_mode & 0o777 == 0o600
    assert {each.name for each in new.data.iterdir()} == {
        *("gateway.db", "gateway.db.lock", "bootstrap-key")
    }


def test_with_the_true_cost_of_a_passphrase(state, tmp_path, monkeypatch):
    monkeypatch.undo()
    assert archive._COST == 2**17
    take(state, tmp_path / "b.gwb")
    assert verify(tmp_path / "b.gwb", PASSPHRASE, lambda _: None).version == "1.0"


def test_each_backup_has_a_key_of_its_own(state, tmp_path):
    for name in ("a", "b"):
        take(state, tmp_path / name)
    heads = {(tmp_path / name).read_bytes()[: len(archive.MAGIC) + 16] for name in ("a", "b")}
    assert len(heads) == 2


@pytest.mark.parametrize("size", [0, 1, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 200_000])
def test_a_stream_of_any_length_comes_back(tmp_path, size):
    path = tmp_path / "encrypted"
    content = bytes(number % 251 for number in range(size))
    with path.open("wb") as file:
        writer = archive.EncryptedWriter(file, PASSPHRASE)
        for start in range(0, size, 1000):
            writer.write(content[start : start + 1000])
        writer.finish()
    with path.open("rb") as file:
        reader = archive.EncryptedReader(file, PASSPHRASE, "it")
        assert reader.readall() == content


def test_a_backup_that_fails_leaves_nothing(state, tmp_path, monkeypatch):
    def _fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(taking.ArchiveWriter, "finish", _fail)
    with pytest.raises(StoreError, match="No space left on device"):
        take(state, tmp_path / "b.gwb")
    assert [each.name for each in tmp_path.iterdir()] == ["old"]
    assert sorted(each.name for each in state.data.iterdir()) == ["bootstrap-key", "gateway.db"]


def test_until_it_is_whole_there_is_no_file_of_that_name(state, tmp_path):
    seen = []
    take(state, tmp_path / "b.gwb", lambda _: seen.append((tmp_path / "b.gwb").exists()))
    assert seen
    assert not any(seen)


def test_a_file_that_is_there_is_not_replaced(state, tmp_path):
    (tmp_path / "b.gwb").write_text("mine", "utf-8")
    with pytest.raises(StoreError, match="already exists"):
        take(state, tmp_path / "b.gwb")
    assert (tmp_path / "b.gwb").read_text("utf-8") == "mine"


def test_a_folder_without_a_gateway_is_no_backup(tmp_path):
    with pytest.raises(StoreError, match="name the data folder of a gateway"):
        take(made_state(tmp_path / "empty"), tmp_path / "b.gwb")
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_is_configured_is_in_it_and_stays_out_of_the_folder_that_has_it(tmp_path):
    key = base64.b64encode(b"k" * 32).decode()
    old = made_state(tmp_path / "old", **{"secrets-key": f"{key}\n"})
    asyncio.run(put_gateway(old))
    take(old, tmp_path / "b.gwb")
    new, configured = made_state(tmp_path / "new"), made_state(tmp_path / "other", **old.configured)
    restore(tmp_path / "b.gwb", new)
    assert (new.data / "secrets-key").read_text("utf-8") == f"{key}\n"
    restore(tmp_path / "b.gwb", configured)
    assert not (configured.data / "secrets-key").exists()


@pytest.mark.parametrize("name", ["gateway.db", "gateway.db-wal", "other"])
def test_a_folder_that_is_not_empty_is_left_alone(state, tmp_path, name):
    take(state, tmp_path / "b.gwb")
    new = made_state(tmp_path / "new")
    new.data.mkdir()
    (new.data / name).write_text("mine", "utf-8")
    with pytest.raises(StoreError, match="empty"):
        restore(tmp_path / "b.gwb", new)
    assert [each.read_text("utf-8") for each in new.data.iterdir()] == ["mine"]


def test_another_database_of_sqlite_in_the_folder_is_copied_by_its_own_means(state, tmp_path):
    with closing(sqlite3.connect(state.data / "mock.state")) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE t (n)")
        other.execute("INSERT INTO t VALUES (1)")
        other.commit()
        manifest = take(state, tmp_path / "b.gwb")
    assert "files/mock.state-wal" not in manifest.entries
    new = made_state(tmp_path / "new")
    restore(tmp_path / "b.gwb", new)
    with closing(sqlite3.connect(new.data / "mock.state")) as other:
        assert other.execute("SELECT n FROM t").fetchall() == [(1,)]


def test_a_copy_is_one_moment_however_much_is_written_meanwhile(tmp_path, monkeypatch):
    """Between any two steps of the copy, somebody writes to two tables at once."""
    monkeypatch.setattr(copies, "_PAGES", 50)
    written: list[int] = []
    with closing(sqlite3.connect(tmp_path / "source.db")) as writer:
        writer.executescript(TABLES)
        writer.executemany(
            "INSERT INTO a VALUES (?, zeroblob(4000))", zip(range(MANY), strict=True)
        )
        writer.executemany("INSERT INTO b VALUES (?)", zip(range(MANY), strict=True))
        writer.commit()

        def write(*_: int) -> None:
            number = MANY + len(written)
            with writer:
                writer.execute("INSERT INTO a VALUES (?, x'00')", (number,))
                writer.execute("INSERT INTO b VALUES (?)", (number,))
            written.append(number)

        copy_database(tmp_path / "source.db", tmp_path / "copy.db", write)
        (count,) = writer.execute("SELECT count(*) FROM a").fetchone()
    assert len(written) > 3
    assert count == MANY + len(written), "what was written meanwhile is in the source"
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        for table in ("a", "b"):
            found = [row[0] for row in copy.execute(f"SELECT n FROM {table} ORDER BY n")]  # noqa: S608 - one of two
            assert found == [*range(MANY)]
