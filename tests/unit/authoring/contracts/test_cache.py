"""A cache may only ever save time."""

from pathlib import Path

import msgspec
import pytest

from gateway.authoring.contracts.cache import RENDERINGS, Cache, write_sealed


def made(text: str, log: list[str]) -> str:
    log.append(text)
    return text


def remember(folder: Path, version: str = "1", basis: str = "basis", text: str = "text") -> bool:
    """Whether one run had to make the text."""
    log: list[str] = []
    cache = Cache(folder / RENDERINGS, version)

    assert cache.remember("kind", basis, lambda: made(text, log)) == text

    cache.save()
    return bool(log)


def test_a_text_is_made_once_for_the_same_basis(tmp_path: Path) -> None:
    assert remember(tmp_path)
    assert not remember(tmp_path)


def test_another_basis_or_another_version_is_made_again(tmp_path: Path) -> None:
    remember(tmp_path)

    assert remember(tmp_path, basis="other", text="other")
    assert remember(tmp_path, version="2", basis="other", text="changed by the generator")


def test_entries_that_a_run_did_not_use_are_dropped(tmp_path: Path) -> None:
    remember(tmp_path, basis="old")
    remember(tmp_path, basis="new")

    assert remember(tmp_path, basis="old")


@pytest.mark.parametrize("junk", [b"", b"junk", b"\xc1" * 64])
def test_a_damaged_file_is_an_empty_cache(tmp_path: Path, junk: bytes) -> None:
    remember(tmp_path)
    (tmp_path / RENDERINGS).write_bytes(junk)

    assert remember(tmp_path)


def test_a_poisoned_text_is_not_used(tmp_path: Path) -> None:
    """One edited byte, and nothing in the file is believed."""
    remember(tmp_path, text="good")
    file = tmp_path / RENDERINGS
    file.write_bytes(file.read_bytes().replace(b"good", b"evil"))

    assert remember(tmp_path, text="good")


def test_a_whole_file_of_another_shape_is_an_empty_cache(tmp_path: Path) -> None:
    write_sealed(tmp_path / RENDERINGS, msgspec.msgpack.encode({"key": 1}))

    assert remember(tmp_path)


def test_the_folder_keeps_itself_out_of_version_control(tmp_path: Path) -> None:
    remember(tmp_path / "cache")

    assert (tmp_path / "cache/.gitignore").read_text("utf-8") == "*\n"


def test_a_write_that_fails_leaves_no_draft_behind(tmp_path: Path) -> None:
    """A folder in the file's place cannot be replaced."""
    (tmp_path / RENDERINGS).mkdir()

    write_sealed(tmp_path / RENDERINGS, b"payload")

    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", RENDERINGS]


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be", "utf-8")

    assert remember(tmp_path / "cache")
    assert remember(tmp_path / "cache")
