"""The pytest plug-in of the wheel.

pytest loads it in every environment that has the wheel, so it does nothing outside of projects.
"""

import os
from pathlib import Path

import pytest

from gateway.testing import ALL_OPTION, BUDGET_OPTION, PER_DOCUMENT, REPORT_OPTION, SEED_OPTION

pytest.register_assert_rewrite("gateway.testing.suite", "gateway.testing.fixtures")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say which imported operations are tested."""
    group = parser.getgroup("contract-gateway")
    few = f"test all imported operations and links, not only {PER_DOCUMENT} of each document"
    group.addoption(ALL_OPTION, action="store_true", help=few)
    drawn = "number by which arguments and imported operations are drawn (default 0)"
    group.addoption(SEED_OPTION, type=int, default=None, metavar="N", help=drawn)
    limit = "seconds after which no more tests of the suite begin; the rest is left out"
    group.addoption(BUDGET_OPTION, type=float, default=None, metavar="S", help=limit)
    written = "also write a report of the suite to this file (.xml, .json, .sarif, .html)"
    group.addoption(REPORT_OPTION, action="append", default=[], metavar="FILE", help=written)


def pytest_configure(config: pytest.Config) -> None:
    """Load the fixtures of the suite if the tests run in a project, or `GATEWAY_SCHEMAS` is set."""
    schemas = os.environ.get("GATEWAY_SCHEMAS") or "schemas"
    if (Path(schemas) / "openapi.yaml").is_file():
        config.pluginmanager.import_plugin("gateway.testing.fixtures")
