"""Whether the generated package is what the contracts say."""

import importlib.util
from pathlib import Path

from gateway.codegen.generate import GenerateReport, PackageNames, generate
from gateway.settings import Settings


def compare_generated(settings: Settings) -> GenerateReport:
    """What `gateway generate` would change. Raises `ContractRefused` and other `OperatorError`s."""
    folder = _folder_of(settings.package)
    return generate(settings.schemas, folder, check=True, names=package_names(settings))


def package_names(settings: Settings) -> PackageNames:
    """What the generator has to know of the project's packages."""
    return PackageNames(package=settings.package, of_handlers=settings.handler_packages)


def stale_finding(settings: Settings, report: GenerateReport) -> str:
    """What is wrong with a stale package, and how to fix it, parted by `; `."""
    folder = _folder_of(settings.package)
    return (
        f"{len(report.changes)} files of {folder} are not what the contracts say; gateway generate"
    )


def _folder_of(package: str) -> Path:
    """Where the package lies, or `gateway generate` would write it."""
    try:
        found = importlib.util.find_spec(package)
    except ImportError:
        found = None
    places = found.submodule_search_locations if found else None
    return Path(next(iter(places))) if places else Path(*package.split("."))
