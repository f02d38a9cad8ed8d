"""The libraries of the extra `author`, which only the generator needs."""

import importlib.metadata
from typing import Final

from gateway.errors import ContractError
from gateway.installed import install_command

AUTHOR_LIBRARIES: Final = ("datamodel-code-generator", "ruff")


def missing_libraries() -> tuple[str, ...]:
    """The libraries of the extra `author` that are not installed."""
    return tuple(name for name in AUTHOR_LIBRARIES if not _is_installed(name))


def require_libraries() -> None:
    """Raise `ContractError` if the extra `author` is not installed."""
    if missing := missing_libraries():
        raise ContractError(
            f"the generator needs {' and '.join(missing)}; run `{install_command('author')}`"
        )


def _is_installed(name: str) -> bool:
    return any(importlib.metadata.distributions(name=name))
