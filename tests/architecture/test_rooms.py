"""Rooms: not deep, and no name that says its folder again."""

from pathlib import PurePosixPath
from typing import Final

DEPTH: Final = 3
"""Folders below `gateway`."""


def paths_of(sources):
    """Where each module of the gateway lies, below `gateway`."""
    paths = [PurePosixPath(source.path) for source in sources]
    return [path.relative_to("gateway") for path in paths if path.parts[0] == "gateway"]


def deep(paths):
    """Each module that lies further down than one finds it."""
    return [str(path) for path in paths if len(path.parts) - 1 > DEPTH]


def repeating(paths):
    """Each module whose name begins with its folder's, as in `jobs/jobs_queue.py`."""
    inside = [path for path in paths if path.parent.name]
    return [str(path) for path in inside if path.stem.startswith(f"{path.parent.name}_")]


def test_no_module_lies_deep(written):
    assert deep(paths_of(written)) == []


def test_no_name_says_its_folder_again(written):
    assert repeating(paths_of(written)) == []


def test_each_of_these_mistakes_is_found(planted):
    assert deep(paths_of(planted("", path="gateway/a/b/c/d/e.py")))
    assert repeating(paths_of(planted("", path="gateway/jobs/jobs_queue.py")))
