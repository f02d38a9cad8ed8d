"""The project whose contracts are tested, and its settings during the tests."""

from functools import cache
from pathlib import Path
from typing import Any

from gateway.catalogue import Catalogue
from gateway.cli.options import settings_of
from gateway.cli.project import check_project, open_project
from gateway.cli.verification.world import FROZEN
from gateway.settings import Settings, read_settings


def project_under_test() -> Settings:
    """The settings of the project in the working folder, or of the one in `GATEWAY_SCHEMAS`.

    Raises an `OperatorError` if there is none.
    """
    settings = settings_of({})
    check_project(settings)
    return settings


@cache
def catalogue_under_test() -> Catalogue:
    """The catalogue of the project, opened once."""
    return open_project(project_under_test())


def project_flags(data: Path) -> dict[str, Any]:
    """The settings that select the project under test, with its state in `data`."""
    project = project_under_test()
    return {
        "data": data,
        "schemas": project.schemas,
        "package": project.package,
        "handler_packages": project.handler_packages,
    }


def mocked_settings(data: Path, **variables: str) -> Settings:
    """Settings that serve the project under test on mocks only, with its state in `data`.

    Of the operator's settings, only those that select the project are used.
    """
    project = project_under_test()
    mocks = {f"GATEWAY_BACKEND_{name.upper()}": "mock" for name in open_project(project).upstreams}
    return read_settings({**FROZEN, **mocks, **variables}, None, project_flags(data))
