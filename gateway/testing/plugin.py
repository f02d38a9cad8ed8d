"""The pytest plug-in of the wheel.

pytest loads it in every environment that has the wheel, so it does nothing outside of projects.
"""

import os
from pathlib import Path

import pytest

pytest.register_assert_rewrite("gateway.testing.suite", "gateway.testing.faces")


def pytest_configure(config: pytest.Config) -> None:
    """Load the fixtures of the suite if the tests run in a project, or `GATEWAY_SCHEMAS` is set."""
    schemas = os.environ.get("GATEWAY_SCHEMAS") or "schemas"
    if (Path(schemas) / "openapi.yaml").is_file():
        config.pluginmanager.import_plugin("gateway.testing.fixtures")
