"""What a contract cannot say about a path is not dropped by an ejection."""

from gateway.authoring.openapi.folder import ImportFolder
from gateway.authoring.openapi.importing import import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.project.ejecting.forms import problems_of
from tests.vendors import given, shop


def test_a_query_in_the_path_has_no_field_map(project):
    document = shop(a="one", b="two")
    document["paths"]["/b?v=2"] = document["paths"].pop("/b")
    folder = ImportFolder(schemas=project.schemas, connector="shop")
    run = import_new(folder, given(document, "openapi.yaml"), OperationSelection())
    connector = run.outcome.connector
    found = {
        each.tool: {problem.rule for problem in problems_of(connector, each, omits_null=False)}
        for each in connector.operations
    }
    assert "path" in found["two"]
    assert "path" not in found["one"]
