"""Backups that an attacker changed or wrote, in the worst case with the passphrase."""

import asyncio
import struct
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.backup import archive
from gateway.backup.archive import MAGIC, EncryptedWriter, verify
from gateway.backup.restoring import restore_backup
from gateway.backup.taking import take_backup
from gateway.errors import StoreError
from tests.unit.backup.state import PASSPHRASE, made_state, put_gateway

PIECE = 64 * 1024 + 16
HEAD = len(MAGIC) + 16


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key derivation that costs nothing; tests/unit/backup has one with the true cost."""
    monkeypatch.setattr(archive, "_COST", 2)


def silent(_step: str) -> None:
    """Say nothing."""


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """An authentic one, of more than one piece."""
    state = made_state(tmp_path / "old")
    asyncio.run(put_gateway(state))
    (state.data / "notes").write_bytes(b"n" * 200_000)
    asyncio.run(take_backup(state, tmp_path / "authentic.gwb", PASSPHRASE, "1.0", silent))
    return tmp_path / "authentic.gwb"


def forged(path: Path, contents: list[tuple[str, bytes]], **changes: Any) -> Path:
    """A backup by somebody who knows the passphrase, with any entries and any manifest."""
    listed = {
        name.encode("utf-8", "replace").decode(): {
            "bytes": len(content),
            "sha256": sha256(content).hexdigest(),
        }
        for name, content in contents
    }
    manifest = {"version": "1.0", "created_at": "now", "databases": {}, "entries": listed}
    with path.open("wb") as file:
        writer = EncryptedWriter(file, PASSPHRASE)
        for name, content in contents:
            encoded = name.encode("utf-8", "surrogateescape")
            writer.write(struct.pack(">HQ", len(encoded), len(content)) + encoded + content)
        text = msgspec.json.encode(manifest | changes)
        writer.write(struct.pack(">HQ", 0, len(text)) + text)
        writer.finish()
    return path


def refused(path: Path, folder: Path, passphrase: str = PASSPHRASE) -> str:
    """How a restore was refused; it must have left nothing, anywhere around."""
    state = made_state(folder / "new")
    around = set(folder.rglob("*"))
    with pytest.raises(StoreError) as error:
        asyncio.run(restore_backup(path, state, passphrase, silent))
    assert set(folder.rglob("*")) - around <= {state.data}
    assert not state.data.exists() or list(state.data.iterdir()) == []
    assert "; " in error.value.detail or "backup" in error.value.detail
    return error.value.detail


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "a bit of the salt": lambda data: flipped(data, len(MAGIC) + 3),
    "a bit of the first piece": lambda data: flipped(data, HEAD + 100),
    "a bit of a later piece": lambda data: flipped(data, HEAD + PIECE + 100),
    "the last bit": lambda data: flipped(data, len(data) - 1),
    "cut off within a piece": lambda data: data[: HEAD + PIECE + 50],
    "cut off between two pieces": lambda data: data[: HEAD + 2 * PIECE],
    "a piece left out": lambda data: data[: HEAD + PIECE] + data[HEAD + 2 * PIECE :],
    "two pieces exchanged": lambda data: (
        data[:HEAD]
        + data[HEAD + PIECE : HEAD + 2 * PIECE]
        + data[HEAD : HEAD + PIECE]
        + data[HEAD + 2 * PIECE :]
    ),
    "something appended": lambda data: data + b"x" * 100,
    "nothing but the head": lambda data: data[:HEAD],
    "half of the head": lambda data: data[: len(MAGIC) + 2],
    "an empty file": lambda _: b"",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.attack(
    "a backup is changed where it is kept: bits, pieces left out, exchanged or appended, or its "
    "end cut off",
    required="verify and restore refuse it before anything is written",
)
def test_a_backup_that_was_changed_restores_nothing(
    backup: Path, tmp_path: Path, change: str
) -> None:
    assert verify(backup, PASSPHRASE, silent).version == "1.0"
    backup.write_bytes(CHANGES[change](backup.read_bytes()))
    refused(backup, tmp_path)
    with pytest.raises(StoreError):
        verify(backup, PASSPHRASE, silent)


@pytest.mark.parametrize("passphrase", ["", "another passphrase", PASSPHRASE + " "])
@pytest.mark.attack(
    "somebody who has a backup and not its passphrase tries to read it",
    required="nothing can be read, not even names of files, and the refusal repeats no passphrase",
)
def test_without_the_passphrase_nothing_can_be_read(
    backup: Path, tmp_path: Path, passphrase: str
) -> None:
    reported = refused(backup, tmp_path, passphrase)
    assert "encrypted with another passphrase" in reported
    assert PASSPHRASE not in reported
    data = backup.read_bytes()
    secrets = [b"bootstrap-key", b"gw_secret_of_the_tests", b"SQLite format", b"n" * 100]
    assert [secret for secret in secrets if secret in data] == []


NAMES = [
    "files/../../outside",
    "files/..",
    "/etc/cron.d/outside",
    "files//outside",
    "files/./outside",
    "files/..\\..\\outside",
    "files/a\0b",
    "files/line\nbreak",
    "files/\u202etxt.exe",
    "files/" + "x/" * 20 + "deep",
    "files/" + "x" * 2000,
    "files/\udcff",
    "outside",
    "databases/gateway/sqlite/more",
    "databases/other/sqlite",
    "",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.attack(
    "a backup whose author knows the passphrase names files outside of the data folder",
    required="the restore is refused, and nothing is written anywhere",
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    path = forged(tmp_path / "forged.gwb", [("files/usual", b"1"), (name, b"harm")])
    refused(path, tmp_path)


@pytest.mark.attack(
    "a backup brings the same file twice, so that what is checked is not what is written",
    required="the restore is refused",
)
def test_an_entry_comes_once(tmp_path: Path) -> None:
    twice = [("files/secrets-key", b"one"), ("files/secrets-key", b"two")]
    assert "whose name is not allowed" in refused(forged(tmp_path / "f.gwb", twice), tmp_path)


@pytest.mark.attack(
    "a backup's manifest vouches for other contents, for more or for fewer than there are",
    required="the restore is refused before anything is written",
)
@pytest.mark.parametrize(
    "listed",
    [
        {},
        {"files/a": {"bytes": 1, "sha256": "0" * 64}},
        {"files/a": {"bytes": 2, "sha256": sha256(b"1").hexdigest()}},
        {
            name: {"bytes": 1, "sha256": sha256(b"1").hexdigest()}
            for name in ("files/a", "files/missing")
        },
    ],
)
def test_the_manifest_and_the_contents_agree(tmp_path: Path, listed: dict[str, Any]) -> None:
    path = forged(tmp_path / "f.gwb", [("files/a", b"1")], entries=listed)
    assert "does not match the manifest" in refused(path, tmp_path)


SIZES = [
    struct.pack(">HQ", 7, 2**63) + b"files/x" + b"little",
    struct.pack(">HQ", 0, 2**62),
    struct.pack(">HQ", 0, 100 * 2**20) + b"{",
    struct.pack(">HQ", 65535, 1) + b"x",
    b"\0",
    b"",
]


@pytest.mark.parametrize("content", SIZES)
@pytest.mark.attack(
    "a backup of a few bytes claims that its entries or its manifest are huge (a bomb)",
    required="it is refused without taking memory or disk for more than the file holds",
)
def test_a_claimed_size_reserves_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bomb.gwb"
    with path.open("wb") as file:
        writer = EncryptedWriter(file, PASSPHRASE)
        writer.write(content)
        writer.finish()
    refused(path, tmp_path)


@pytest.mark.attack(
    "a backup asks for a costly key derivation, or says that it is of another form",
    required="the cost is the program's own, and another form is refused before any work",
)
def test_the_file_does_not_choose_the_cost_of_reading_it(backup: Path, tmp_path: Path) -> None:
    data = backup.read_bytes()
    backup.write_bytes(data[: len(MAGIC) - 1] + b"\x02" + data[len(MAGIC) :])
    assert "has format 2, and this version reads format 1" in refused(backup, tmp_path)


@pytest.mark.parametrize(
    ("facts", "reported"),
    [
        (
            {"engine": "sqlite", "revisions": {"alembic_version": "9999"}},
            "does not have that revision",
        ),
        (
            {"engine": "sqlite", "revisions": {"alembic_version": "head"}},
            "does not have that revision",
        ),
        ({"engine": "sqlite", "revisions": {"pg_shadow": "0001"}}, "does not have that revision"),
        ({"engine": "postgresql", "revisions": {}}, "name one of postgresql"),
        ({"engine": "sqlite", "revisions": {}, "columns": {"pg_shadow": ["a"]}}, "no contract"),
        ({"engine": "sqlite", "revisions": {}, "sequences": {"a; drop": {}}}, "no contract"),
        (
            {"engine": "sqlite", "revisions": {}, "sql": "drop table keys"},
            "cannot read the backup's manifest",
        ),
    ],
)
@pytest.mark.attack(
    "a backup's manifest names tables, columns or revisions that become SQL, or is of a version to "
    "come",
    required="only what the contracts and migrations of this version name is taken; else the "
    "restore is refused",
)
def test_a_manifest_is_no_source_of_statements(
    tmp_path: Path, facts: dict[str, Any], reported: str
) -> None:
    entries = [("databases/gateway/sqlite", b"SQLite format 3\0")]
    path = forged(tmp_path / "f.gwb", entries, databases={"gateway": facts})
    assert reported in refused(path, tmp_path)


@pytest.mark.attack(
    "the data folder of a running gateway holds a link to a file elsewhere when it is backed up",
    required="the file is not in the backup",
)
def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    state = made_state(tmp_path / "old")
    asyncio.run(put_gateway(state))
    (tmp_path / "elsewhere").write_text("secret of another program", "utf-8")
    (state.data / "link").symlink_to(tmp_path / "elsewhere")
    manifest = asyncio.run(take_backup(state, tmp_path / "b.gwb", PASSPHRASE, "1.0", silent))
    assert "files/link" not in manifest.entries
    assert not any("elsewhere" in name for name in manifest.entries)
