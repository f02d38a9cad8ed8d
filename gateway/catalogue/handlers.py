"""Checks the Python code that contracts name, before any generated code runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from gateway.catalogue.reading import reading
from gateway.contract.connector import NamedCode, faults, import_named, is_within, outside
from gateway.contract.upstream import Upstream
from gateway.errors import ContractError

_FIX: Final = "correct the contract, or the setting handler_packages; run `gateway generate`"
_MODULE_FIX: Final = "correct that module, or install what it imports"


def check_named_code(folder: Path, packages: Sequence[str]) -> None:
    """Refuse code outside `packages` without importing it, and functions that are not marked.

    A mock is imported when it is first used, and only then is its mark checked. Raises
    `ContractError`, which names the contract and the pointer.
    """
    path = folder / "handlers.json"
    with reading(path):
        named = msgspec.json.decode(path.read_bytes(), type=list[NamedCode])
    for each in [*named, *_mocks(folder)]:
        if not is_within(each.module, packages):
            raise _refused(each, outside(each.module, packages))
    for each in named:
        if each.use != "mock":
            _check_marked(each)


def _check_marked(named: NamedCode) -> None:
    try:
        module = import_named(named.module)
    except ImportError as error:
        raise _refused(named, str(error), _MODULE_FIX) from error
    for fault in faults(module, named.function, named.use):
        raise _refused(named, fault)


def _mocks(folder: Path) -> list[NamedCode]:
    """The mocks in the upstreams' files. The gateway imports these names, not `handlers.json`'s."""
    found = []
    for path in sorted((folder / "upstreams").glob("*.json")):
        with reading(path):
            mock = msgspec.json.decode(path.read_bytes(), type=Upstream).mock
        if mock:
            found.append(NamedCode(use="mock", module=mock, path=str(path), pointer="/mock"))
    return found


def _refused(named: NamedCode, why: str, fix: str = _FIX) -> ContractError:
    return ContractError(f"{named.path} {named.pointer}: {why}; {fix}")
