"""Where this gateway was installed from, for hints that can be run and for files that pin it.

The package is on no index, so its name alone finds nothing. What pip recorded of a path, a wheel
or a repository (PEP 610) is put after the name, as a direct reference (PEP 508).
"""

from importlib.metadata import PackageNotFoundError, distribution, distributions
from typing import Final

import msgspec
from msgspec import Struct

from gateway.errors import ContractError

PACKAGE: Final = "contract-gateway"
AUTHOR_LIBRARIES: Final = ("datamodel-code-generator", "ruff")
"""Those of the extra `author`, which only the generator needs."""
_LOCAL: Final = "file:"


class Repository(Struct):
    """A version control system, and the revision that was installed."""

    vcs: str
    commit_id: str


class Archive(Struct):
    """A wheel or an archive of sources."""

    hashes: dict[str, str] = {}


class Origin(Struct):
    """What pip records of an installation that is of no index: `direct_url.json` of PEP 610."""

    url: str
    vcs_info: Repository | None = None
    archive_info: Archive | None = None
    subdirectory: str | None = None

    @property
    def reference(self) -> str:
        """The URL of a direct reference to exactly this, as pip reads it."""
        if self.vcs_info is not None:
            part = f"#subdirectory={self.subdirectory}" if self.subdirectory else ""
            return f"{self.vcs_info.vcs}+{self.url}@{self.vcs_info.commit_id}{part}"
        digest = self.archive_info.hashes.get("sha256") if self.archive_info else None
        return self.url if digest is None else f"{self.url}#sha256={digest}"

    @property
    def is_here_only(self) -> bool:
        """Whether other machines cannot install from it."""
        return self.url.startswith(_LOCAL)


def origin_of(package: str = PACKAGE) -> Origin | None:
    """Where `package` was installed from. None if from an index, or if nothing says it."""
    try:
        text = distribution(package).read_text("direct_url.json")
        return None if text is None else msgspec.json.decode(text, type=Origin)
    except (PackageNotFoundError, msgspec.DecodeError):
        return None


def requirement(*extras: str, version: str | None = None, origin: Origin | None = None) -> str:
    """What a file of requirements says to get this gateway with `extras`.

    `version` pins one of an index; an `origin` pins itself.
    """
    named = f"{PACKAGE}[{','.join(extras)}]" if extras else PACKAGE
    if origin is not None:
        return f"{named} @ {origin.reference}"
    return named if version is None else f"{named}=={version}"


def install_command(*extras: str) -> str:
    """The command that adds `extras` to this installation."""
    return f"pip install '{requirement(*extras, origin=origin_of())}'"


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
    return any(distributions(name=name))
