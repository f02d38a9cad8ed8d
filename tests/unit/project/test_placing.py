"""Files are placed all together or not at all."""

from pathlib import Path, PurePosixPath

import pytest

from gateway.errors import ConfigurationError
from gateway.project import placing
from gateway.project.placing import occupied, place

FILES = {PurePosixPath("a/one.txt"): b"1", PurePosixPath("b/c/two.txt"): b"2"}


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_files_and_their_folders_are_made(tmp_path):
    place(tmp_path / "new" / "project", FILES)
    assert contents(tmp_path / "new" / "project") == {
        "a": None,
        "a/one.txt": b"1",
        "b": None,
        "b/c": None,
        "b/c/two.txt": b"2",
    }


def test_existing_files_are_replaced_and_others_stay(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_bytes(b"old")
    (tmp_path / "a" / "mine.txt").write_bytes(b"mine")
    place(tmp_path, FILES)
    found = contents(tmp_path)
    assert (found["a/one.txt"], found["a/mine.txt"]) == (b"1", b"mine")


def test_a_file_that_cannot_be_written_reverts_everything(tmp_path):
    """`b` is a file, so the second file has no place, after the first one had been replaced."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_bytes(b"old")
    (tmp_path / "b").write_bytes(b"no folder")
    before = contents(tmp_path)
    with pytest.raises(ConfigurationError, match="and nothing has changed; "):
        place(tmp_path, FILES)
    assert contents(tmp_path) == before


def test_an_interruption_reverts_everything_too(tmp_path, monkeypatch):
    put = placing._put

    def interrupted(drafts, folder, path, undo):
        put(drafts, folder, path, undo)
        if path.name == "two.txt":
            raise KeyboardInterrupt

    monkeypatch.setattr(placing, "_put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        place(tmp_path / "new", FILES)
    assert contents(tmp_path) == {}


def test_what_is_in_the_way_is_listed(tmp_path):
    (tmp_path / "b").write_bytes(b"no folder")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").symlink_to("nowhere")
    assert occupied(tmp_path, FILES) == sorted(FILES)
    assert occupied(tmp_path / "new", FILES) == []


def test_removed_files_go_with_their_empty_folders(tmp_path):
    place(tmp_path, FILES)
    place(tmp_path, {PurePosixPath("b/new.txt"): b"3"}, [PurePosixPath("b/c/two.txt")])
    assert set(contents(tmp_path)) == {"a", "a/one.txt", "b", "b/new.txt"}


def test_what_was_removed_comes_back_if_something_cannot_be_written(tmp_path, monkeypatch):
    place(tmp_path, FILES)
    before = contents(tmp_path)
    original = placing._take_out

    def broken(drafts, folder, path, undo):
        original(drafts, folder, path, undo)
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(placing, "_take_out", broken)
    with pytest.raises(ConfigurationError, match="nothing has changed"):
        place(tmp_path, {PurePosixPath("d.txt"): b"4"}, [PurePosixPath("a/one.txt")])
    assert contents(tmp_path) == before
