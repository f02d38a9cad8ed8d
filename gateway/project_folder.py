"""What both wings know of the folder of a project: its index, and an interrupted change."""

from pathlib import Path, PurePosixPath
from typing import Final

INDEX: Final = PurePosixPath("openapi.yaml")
"""The file of a schemas folder that lists all contracts."""
CHANGE: Final = ".gateway-change"
"""The folder of a change that is under way, or was interrupted."""
JOURNAL: Final = "journal.json"
"""The file in it that says what is to be undone."""


def is_unfinished(folder: Path) -> bool:
    """Whether a change of the project in `folder` is under way, or was interrupted."""
    return (folder / CHANGE / JOURNAL).is_file()
