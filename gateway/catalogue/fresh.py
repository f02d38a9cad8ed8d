"""Imports packages again as their files are now, beside the modules that are in use.

Objects of the old modules continue to work. Only what they import by name later, within a function,
comes from the new modules.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from gateway.contract.connector import is_within

_CERTAIN_SECONDS: Final = 2.0
"""Compiled code is found by the second and the size of its source. Two versions that were written
within one second can have both alike."""


@contextmanager
def imported_afresh(packages: Sequence[str]) -> Iterator[None]:
    """Import the modules of `packages` again in the block.

    If the block raises, the modules before it are put back.
    """
    before = _taken_out(packages)
    finder = _Finder(packages)
    sys.meta_path.insert(0, finder)
    importlib.invalidate_caches()
    try:
        yield
    except BaseException:
        _taken_out(packages)
        sys.modules.update(before)
        for name, module in before.items():
            _bind(name, module)
        raise
    finally:
        sys.meta_path.remove(finder)


def _taken_out(packages: Sequence[str]) -> dict[str, ModuleType]:
    names = [name for name in [*sys.modules] if is_within(name, packages)]
    return {name: sys.modules.pop(name) for name in names}


def _bind(name: str, module: ModuleType) -> None:
    """Make `module` the attribute of its parent again, as an import does."""
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)


class _Finder(MetaPathFinder):
    """Finds the modules of some packages, and does not trust compiled code that may be older."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See `MetaPathFinder`."""
        if not is_within(fullname, self._packages):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        """The compiled module, from its source unless the compiled file is certainly newer."""
        if _is_certain(Path(self.path)):
            return super().get_code(fullname)
        code: Any = self.source_to_code(self.get_data(self.path), self.path)
        return code if isinstance(code, CodeType) else None


def _is_certain(source: Path) -> bool:
    try:
        compiled = Path(cache_from_source(str(source))).stat()
        return compiled.st_mtime - source.stat().st_mtime >= _CERTAIN_SECONDS
    except OSError:
        return False
