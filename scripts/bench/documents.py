"""The OpenAPI documents of a folder, which benchmarks read."""

import gzip
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from processes import BenchError

SUFFIXES: Final = (".json", ".yaml", ".yml")


def documents_of(folder: Path) -> Sequence[Path]:
    """The documents in `folder`, sorted by name. Raises `BenchError` if there are none."""
    found = [path for path in sorted(folder.glob("*")) if _is_document(path)]
    if not found:
        raise BenchError(f"{folder} has no documents: {', '.join(SUFFIXES)}, also .gz, or folders")
    return found


def _is_document(path: Path) -> bool:
    if path.name.startswith("."):
        return False
    name = path.name.removesuffix(".gz")
    return path.is_dir() or name.endswith(SUFFIXES)


def unpacked(document: Path, folder: Path) -> Path:
    """`document`, or the file in `folder` that it is unpacked to.

    Raises `OSError` and `EOFError` if it is damaged.
    """
    if document.suffix != ".gz":
        return document
    path = folder / document.stem
    with gzip.open(document) as packed, path.open("wb") as stream:
        shutil.copyfileobj(packed, stream)
    return path
