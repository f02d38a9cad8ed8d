"""Compares the generated package with the contracts."""

from gateway.cli.project import check_contracts, package_folder
from gateway.codegen.generate import GenerateReport, PackageNames, generate
from gateway.settings import Settings


def compare_generated(settings: Settings) -> GenerateReport:
    """The changes that `gateway generate` would make. Raises `OperatorError`."""
    check_contracts(settings)
    return generate(
        settings.schemas, package_folder(settings), check=True, names=package_names(settings)
    )


def package_names(settings: Settings) -> PackageNames:
    """The names of the project's packages, for the generator."""
    return PackageNames(package=settings.package, of_handlers=settings.handler_packages)


def stale_finding(settings: Settings, report: GenerateReport) -> str:
    """The problem and the fix for a stale package, joined with `; `."""
    folder = package_folder(settings)
    return f"{len(report.changes)} files of {folder} do not match the contracts; gateway generate"
