"""Which operations of an import tools with contract files call."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gateway.contracts.sources import yamltext

_TOOLS: Final = "tools"
_WORD: Final = b"x-binding"


def bound_names(schemas: Path, connector: str) -> frozenset[str]:
    """The operations of the import `connector` that the contract files of tools name.

    A file that cannot be read names none: the lint reports it.
    """
    found = (_binding(path, connector) for path in (schemas / _TOOLS).glob("*/*.yaml"))
    return frozenset(name for each in found for name in _named(each, connector))


def _binding(path: Path, connector: str) -> Any:
    """`x-binding` of the file. Most files name another upstream, and are not parsed."""
    try:
        raw = path.read_bytes()
        if _WORD not in raw or connector.encode() not in raw:
            return None
        value = yamltext.decode(raw.decode())
    except (OSError, UnicodeDecodeError, yamltext.YamlRefused):
        return None
    operation = value.get("post") if isinstance(value, dict) else None
    return operation.get("x-binding") if isinstance(operation, dict) else None


def _named(binding: Any, connector: str) -> Iterator[str]:
    if isinstance(binding, dict) and binding.get("upstream") == connector:
        name = binding.get("operationId")
        if isinstance(name, str):
            yield name
