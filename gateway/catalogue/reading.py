"""Reads parts of the generated package. Errors name the damaged file."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from typing import TypeVar

from gateway.errors import ContractError

_T = TypeVar("_T")


@contextmanager
def reading(part: str | Path, folder: Path | None = None) -> Iterator[None]:
    """Turn every error of the block into a `ContractError` that names `part`.

    If code of a file in `folder` was running when the error occurred, the error names that file.
    """
    try:
        yield
    except Exception as error:  # a damaged module may raise any error when it is imported
        ran = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
        inside = [file for file in ran if folder and Path(file).is_relative_to(folder)]
        why = str(error).partition("\n")[0] or type(error).__name__
        raise ContractError(
            f"{inside[-1] if inside else part} cannot be used ({why}); run `gateway generate`"
        ) from error


def folder_of(package: str) -> Path:
    """The folder of the package. Raises `ContractError`."""
    with reading(f"the generated package {package!r}"):
        return Path(str(importlib.import_module(package).__file__)).parent


def table(package: str, module: str, name: str, kind: type[_T]) -> tuple[_T, ...]:
    """The tuple `name` of a module of the package. Raises `ContractError`."""
    folder = folder_of(package)
    with reading(folder / module, folder):
        found = getattr(importlib.import_module(f"{package}.{module}"), name)
        if not isinstance(found, tuple) or not all(isinstance(each, kind) for each in found):
            raise TypeError(f"{name} is not a tuple of {kind.__name__}s")
        return found
