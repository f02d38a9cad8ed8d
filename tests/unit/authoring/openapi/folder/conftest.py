"""A schemas folder for imports."""

import pytest

from gateway.authoring.openapi.folder import ImportFolder
from gateway.authoring.openapi.importing import import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from tests.vendors import given, shop, written


@pytest.fixture
def folder(tmp_path):
    """The folder of the import `shop`, which does not exist yet."""
    return ImportFolder(schemas=tmp_path, connector="shop")


@pytest.fixture
def imported(folder):
    """The folder with a document that has the operations `list` and `find`."""
    written(folder, import_new(folder, given(shop(a="list", b="find")), OperationSelection()))
    return folder
