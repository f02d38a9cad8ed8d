"""Compares the generated package with the contracts."""

import importlib.util
from pathlib import Path

from gateway.codegen.generate import GenerateReport, PackageNames, generate
from gateway.settings import Settings


def compare_generated(settings: Settings) -> GenerateReport:
    """The changes that `gateway generate` would make. Raises `OperatorError`."""
    folder = _folder_of(settings.package)
    return generate(settings.schemas, folder, check=True, names=package_names(settings))


def package_names(settings: Settings) -> PackageNames:
    """The names of the project's packages, for the generator."""
    return PackageNames(package=settings.package, of_handlers=settings.handler_packages)


def stale_finding(settings: Settings, report: GenerateReport) -> str:
    """The problem and the fix for a stale package, joined with `; `."""
    folder = _folder_of(settings.package)
    return f"{len(report.changes)} files of {folder} do not match the contracts; gateway generate"


def _folder_of(package: str) -> Path:
    """The folder of the package, or the folder to which `gateway generate` would write it."""
    try:
        found = importlib.util.find_spec(package)
    except ImportError:
        found = None
    places = found.submodule_search_locations if found else None
    return Path(next(iter(places))) if places else Path(*package.split("."))
