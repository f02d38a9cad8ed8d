"""A new project has all tests of the suite that `gateway test` runs."""

from pathlib import Path

from gateway.authoring import project
from gateway.testing.test import SUITE

TEMPLATE = Path(project.__file__).with_name("template") / "tests/test_contracts.py.template"


def imports(file):
    return [line for line in file.read_text("utf-8").splitlines() if line.startswith("from ")]


def test_the_template_imports_what_the_command_runs():
    assert imports(TEMPLATE) == imports(SUITE)
    assert len(imports(SUITE)) == len([*SUITE.with_name("suite").glob("[!_]*.py")])
