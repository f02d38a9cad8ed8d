"""Files are placed all together or not at all."""

import errno
import hashlib
import itertools
import json
import os
import re
import stat
import threading
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath

import pytest

from gateway.authoring.project import changes as project_changes
from gateway.authoring.project.changes import holding, locked, occupied, place
from gateway.errors import ConfigurationError
from gateway.project_folder import CHANGE, is_unfinished

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


class Killed(BaseException):
    """Ends the process here: nothing after it is done, not even what undoes the change."""


def changes(monkeypatch, at, failure):
    """Let the `at`th system call that changes a file fail, and all after it if it is a kill."""
    count = itertools.count(1)

    def counted(original):
        def call(*arguments, **named):
            number = next(count)
            if number == at or (number > at and failure is Killed):
                raise failure
            return original(*arguments, **named)

        return call

    for name in ("link", "mkdir", "rename", "replace", "rmdir", "unlink"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    return count


OLD = {PurePosixPath("a/one.txt"): b"old", PurePosixPath("c/gone.txt"): b"gone"}
GONE = [PurePosixPath("c/gone.txt")]


def steps(folder):
    """How many such calls a change has."""
    place(folder, OLD)
    with pytest.MonkeyPatch.context() as patch:
        count = changes(patch, 0, OSError)
        place(folder, FILES, GONE)
        return next(count) - 1


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left"), Killed])
def test_a_change_that_stops_anywhere_is_whole_or_nothing(tmp_path, failure):
    """After a kill, the next command undoes what is left."""
    number = steps(tmp_path / "counted")
    after = contents(tmp_path / "counted")
    assert number > 15
    for at in range(1, number + 1):
        folder = tmp_path / str(at)
        place(folder, OLD)
        before = contents(folder)
        with pytest.MonkeyPatch.context() as patch, suppress(failure_of(failure)):
            changes(patch, at, failure)
            place(folder, FILES, GONE)
        if failure is not Killed:
            assert files_of(contents(folder)) in (files_of(before), files_of(after)), at
        place(folder, {})
        assert files_of(contents(folder)) in (files_of(before), files_of(after)), at
        assert not (folder / CHANGE).exists(), at


def failure_of(failure):
    """What `place` raises then."""
    return ConfigurationError if isinstance(failure, OSError) else failure


def files_of(found):
    """The files without the folders, and without what is kept for undoing the change."""
    return {
        path: content
        for path, content in found.items()
        if content is not None and not path.startswith(CHANGE)
    }


def killed_at_the_end(folder):
    """Change the project, and die before that is finished."""
    place(folder, OLD)
    with pytest.MonkeyPatch.context() as patch, suppress(Killed):
        patch.setattr(project_changes, "finish", lambda _: killed())
        patch.setattr(project_changes, "undo", lambda _: ())
        place(folder, FILES, GONE)


def killed():
    raise Killed


def test_what_was_interrupted_is_undone_and_named(tmp_path):
    killed_at_the_end(tmp_path)
    assert is_unfinished(tmp_path)
    with holding(tmp_path, []) as project:
        assert project.undone == ("a/one.txt", "b/c/two.txt", "c/gone.txt")
    assert files_of(contents(tmp_path)) == {"a/one.txt": b"old", "c/gone.txt": b"gone"}
    assert not is_unfinished(tmp_path)


def test_what_was_saved_after_an_interruption_is_kept_and_said(tmp_path):
    killed_at_the_end(tmp_path)
    (tmp_path / "a" / "one.txt").write_bytes(b"1 and mine")
    before = contents(tmp_path)
    with pytest.raises(ConfigurationError, match=r"what it held before is .*/old/0") as refused:
        place(tmp_path, {PurePosixPath("d.txt"): b"4"})
    assert contents(tmp_path) == before
    (kept,) = re.findall(r"is (\S+/old/0)", str(refused.value))
    assert Path(kept).read_bytes() == b"old"


def test_a_journal_that_cannot_be_read_stops_everything(tmp_path):
    killed_at_the_end(tmp_path)
    (tmp_path / CHANGE / "journal.json").write_bytes(b"{")
    with pytest.raises(ConfigurationError, match="delete that folder"):
        place(tmp_path, FILES)


@pytest.mark.parametrize("path", ["../elsewhere", "a/../../elsewhere", "/elsewhere"])
def test_a_journal_of_a_stranger_reaches_nothing_outside_the_project(tmp_path, path):
    folder = tmp_path / "project"
    (folder / CHANGE / "old").mkdir(parents=True)
    (folder / CHANGE / "old/0").write_text("theirs")
    (tmp_path / "elsewhere").write_text("mine")
    digest = hashlib.sha256(b"mine").hexdigest()
    files = [{"path": path, "old": "0" * 64, "new": digest}]
    text = json.dumps({"files": files, "folders": []})
    (folder / CHANGE / "journal.json").write_text(text)
    with pytest.raises(ConfigurationError, match="is not in the project"):
        place(folder, {PurePosixPath("a"): b"new"})
    assert (tmp_path / "elsewhere").read_text() == "mine"
    assert not (folder / "a").exists()


def test_what_is_saved_while_a_command_runs_is_not_replaced(tmp_path):
    place(tmp_path, OLD)
    with holding(tmp_path, [PurePosixPath("a"), PurePosixPath("b")]) as project:
        (tmp_path / "a" / "one.txt").write_bytes(b"saved")
        with pytest.raises(ConfigurationError, match=r"a/one\.txt was changed while this"):
            project.place(FILES)
    assert files_of(contents(tmp_path)) == {"a/one.txt": b"saved", "c/gone.txt": b"gone"}


@pytest.mark.parametrize("path", ["a/one.txt", "b/c/two.txt", "c/gone.txt"])
def test_what_is_saved_at_the_last_moment_is_not_replaced(tmp_path, monkeypatch, path):
    """After the copies are made, an editor saves by a new file."""
    place(tmp_path, OLD)
    prepare = project_changes.prepare

    def prepared(*arguments):
        plan = prepare(*arguments)
        (tmp_path / "b/c").mkdir(parents=True, exist_ok=True)
        (tmp_path / "saved").write_bytes(b"saved")
        (tmp_path / "saved").replace(tmp_path / path)
        return plan

    monkeypatch.setattr(project_changes, "prepare", prepared)
    with pytest.raises(ConfigurationError, match=f"{path} was changed while this command ran"):
        place(tmp_path, FILES, GONE)
    expected = {"a/one.txt": b"old", "c/gone.txt": b"gone", path: b"saved"}
    assert files_of(contents(tmp_path)) == expected


def test_one_command_at_a_time_changes_a_project(tmp_path):
    with locked(tmp_path), pytest.raises(ConfigurationError, match="another command is changing"):
        ExitStack().enter_context(locked(tmp_path, patience=0))
    ExitStack().enter_context(locked(tmp_path, patience=0))


def test_a_command_waits_for_another_one(tmp_path):
    entered = []
    with locked(tmp_path):
        waiting = threading.Thread(target=lambda: entered.append(place(tmp_path, FILES)))
        waiting.start()
        waiting.join(0.2)
        assert contents(tmp_path) == {}
    waiting.join()
    assert entered == [None]
    assert (tmp_path / "a" / "one.txt").read_bytes() == b"1"


def test_files_on_another_file_system_are_copied(tmp_path, monkeypatch):
    place(tmp_path, OLD)
    replace = os.replace

    def across(source, target, **named):
        if Path(source).parent.parent.name == CHANGE:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(source, target, **named)

    monkeypatch.setattr(os, "replace", across)
    place(tmp_path, FILES, GONE)
    found = files_of(contents(tmp_path))
    assert found == {str(path): content for path, content in FILES.items()}


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    place(tmp_path, OLD)
    (tmp_path / "a/one.txt").chmod(0o600)
    place(tmp_path, FILES, GONE)
    assert stat.S_IMODE((tmp_path / "a/one.txt").stat().st_mode) == 0o600


def linked(folder):
    """A project in which two files are links to files elsewhere."""
    place(folder / "project", OLD)
    for path, content in OLD.items():
        (folder / path.name).write_bytes(content)
        (folder / "project" / path).unlink()
        (folder / "project" / path).symlink_to(folder / path.name)
    return folder / "project"


def test_a_link_stays_and_its_file_is_written(tmp_path):
    """Of a file that is removed, only the link is."""
    project = linked(tmp_path)
    place(project, FILES, GONE)
    assert (project / "a/one.txt").readlink() == tmp_path / "one.txt"
    assert (tmp_path / "one.txt").read_bytes() == b"1"
    assert not (project / "c").exists()
    assert (tmp_path / "gone.txt").read_bytes() == b"gone"


def test_links_come_back_with_their_files(tmp_path, monkeypatch):
    project = linked(tmp_path)

    def broken(_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(project_changes, "finish", broken)
    with pytest.raises(ConfigurationError, match="the next command that writes undoes what has"):
        place(project, FILES, GONE)
    monkeypatch.undo()
    place(project, {})
    assert (project / "a/one.txt").readlink() == tmp_path / "one.txt"
    assert (project / "c/gone.txt").readlink() == tmp_path / "gone.txt"
    assert {path: (project / path).read_bytes() for path in OLD} == OLD
