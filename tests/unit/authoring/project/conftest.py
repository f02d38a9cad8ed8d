"""A project of one's own, as `gateway init` makes it."""

import pytest

from gateway.authoring.project.changes import place
from gateway.authoring.project.staging import OWN_PACKAGES, Project, new_project


@pytest.fixture(scope="session")
def files():
    """Its files by path."""
    return new_project("ours", "1.0.0")


@pytest.fixture
def project(tmp_path, files):
    """The project in a folder of the test's own."""
    place(tmp_path, files)
    return Project(
        folder=tmp_path,
        schemas=tmp_path / "schemas",
        handler_packages=OWN_PACKAGES,
        version="1.0.0",
    )
