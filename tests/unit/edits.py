"""Edits of files: each replaces a text that must be there."""

from collections.abc import Callable
from pathlib import Path

Edit = Callable[[Path], None]


def rewrite(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def edited(name: str, old: str, new: str) -> Edit:
    """Replaces a text of the file `name` in a folder."""
    return lambda folder: rewrite(folder / name, old, new)
