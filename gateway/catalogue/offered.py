"""Opens the generated resources and prompts, and the Python functions that they name."""

from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from gateway.catalogue.reading import reading
from gateway.contract.connector import faults, import_named, is_within, outside
from gateway.contract.offered import (
    RESOURCES,
    DeclaredPrompt,
    DeclaredResource,
    HandlerContents,
    Offered,
    UriTemplate,
)
from gateway.errors import ContractError, UnknownOperation

OFFERED_FILE: Final = "offered.json"
PAGES_FILE: Final = "pages.json"
_FIX: Final = "correct the contract, or the setting handler_packages; run `gateway generate`"
_NOTHING: Final[Mapping[str, str]] = {}

RunResource = Callable[[Mapping[str, str]], Awaitable[str | bytes | None]]
"""Makes the content of a resource from the variables of its URI. None: there is no such one."""


class OpenResource(Struct, frozen=True, eq=False):
    """A resource with the function that it comes from, if there is one."""

    declared: DeclaredResource
    template: UriTemplate | None = None
    run: RunResource | None = None

    def match(self, uri: str) -> Mapping[str, str] | None:
        """The variables of `uri`, if it is this resource or one of this template."""
        if self.template is None:
            return _NOTHING if uri == self.declared.uri else None
        values = self.template.match(uri)
        if values is None or any(
            each.values and values[each.name] not in each.values for each in self.declared.variables
        ):
            return None
        return values


class OpenOffered(Struct, frozen=True, eq=False):
    """What contracts offer beside tools, opened."""

    resources: tuple[OpenResource, ...] = ()
    prompts: tuple[DeclaredPrompt, ...] = ()


class ReferencePages(Struct, frozen=True, eq=False):
    """The reference pages of tools."""

    texts: Mapping[str, Raw] = {}
    """By operation id, as JSON texts, which are parts of the file."""

    @property
    def ids(self) -> Set[str]:
        return self.texts.keys()

    def page(self, operation_id: str) -> str:
        """The page as Markdown. Raises `UnknownOperation` if there is none."""
        if operation_id not in self.texts:
            raise UnknownOperation
        return msgspec.json.decode(self.texts[operation_id], type=str)


def open_offered(folder: Path, packages: Sequence[str]) -> OpenOffered:
    """The resources and prompts of the package in `folder`.

    Contracts may name functions only in `packages`. Raises `ContractError`.
    """
    path = folder / OFFERED_FILE
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=Offered)
    return OpenOffered(tuple(_opened(each, packages) for each in found.resources), found.prompts)


def open_pages(folder: Path) -> ReferencePages:
    """The reference pages of the package in `folder`. Raises `ContractError`."""
    path = folder / PAGES_FILE
    with reading(path):
        return ReferencePages(msgspec.json.decode(path.read_bytes(), type=dict[str, Raw]))


def _opened(declared: DeclaredResource, packages: Sequence[str]) -> OpenResource:
    template = UriTemplate(declared.uri) if declared.is_template else None
    if not isinstance(declared.contents, HandlerContents):
        return OpenResource(declared, template)
    return OpenResource(declared, template, _function(declared, declared.contents, packages))


def _function(
    declared: DeclaredResource, named: HandlerContents, packages: Sequence[str]
) -> RunResource:
    """The marked function. Raises `ContractError`, which names the contract and the pointer."""
    place = f"{RESOURCES}/{declared.connector}/{declared.name}.yaml /contents/python"
    if not is_within(named.module, packages):
        raise ContractError(f"{place}: {outside(named.module, packages)}; {_FIX}")
    try:
        module = import_named(named.module)
    except ImportError as error:
        raise ContractError(f"{place}: {error}; correct that module") from error
    for fault in faults(module, named.function, "resource"):
        raise ContractError(f"{place}: {fault}; {_FIX}")
    found: Any = getattr(module, named.function)
    run: RunResource = found
    return run
