"""Writes the folder of an imported document: all of its files, or none."""

import errno
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gateway.errors import ContractError

_DRAFT_SUFFIX: Final = ".gateway-draft"


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make `folder` with `files`, by relative path, and the folders above it.

    It must not exist. Raises `ContractError`.
    """
    draft = folder.with_name(f".{folder.name}{_DRAFT_SUFFIX}")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.parent.mkdir(parents=True, exist_ok=True)
        _write(draft, files)
        draft.rename(folder)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise _unwritable(folder, error) from error


def replace_files(folder: Path, files: Mapping[str, bytes], obsolete: str | None) -> None:
    """Replace `files` in `folder` atomically one by one, after all of them are written elsewhere.

    `obsolete` is a file or folder that is removed first, because `files` replace it. Raises
    `ContractError`.
    """
    draft = folder.with_name(f".{folder.name}{_DRAFT_SUFFIX}")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        _write(draft, files)
        if obsolete is not None:
            _remove(folder / obsolete)
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).replace(folder / name)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Whether all of `files` are in `folder` with the same bytes."""
    return all(
        (folder / name).is_file() and (folder / name).read_bytes() == content
        for name, content in files.items()
    )


def _unwritable(folder: Path, error: OSError) -> ContractError:
    fix = "choose another folder with --schemas, or change its owner or permissions"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        fix = "free some space, or choose another folder with --schemas"
    return ContractError(f"{folder} cannot be written ({error.strerror}); {fix}")


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
