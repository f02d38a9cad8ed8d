"""Documents of several files: what is followed, and what is never opened."""

import json
import os

import pytest

from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.schemas import SchemaLowering, resolve, resolve_part
from gateway.authoring.openapi.reading.source import PartRefused, read_source


@pytest.fixture
def folder(tmp_path):
    """Reads a folder of files: path to value."""

    def read(files):
        for path, value in files.items():
            file = tmp_path / "api" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(value), "utf-8")
        return normalise(read_source(tmp_path / "api"))

    return read


def first(**members):
    return {"openapi": "3.1.0", "info": {}, **members}


def response(ref):
    """Paths with one operation that answers with a schema."""
    content = {"application/json": {"schema": {"$ref": ref}}}
    return {"/a": {"get": {"responses": {"200": {"content": content}}}}}


def schema_of(document):
    operation = document.value["paths"]["/a"]["get"]
    return operation["responses"]["200"]["content"]["application/json"]["schema"]


def refusal(document):
    """The refusal of the schema of the only response."""
    with pytest.raises(PartRefused) as caught:
        SchemaLowering(document).lower(schema_of(document), "output", "/paths")
    return caught.value.finding


def test_targets_in_other_files_become_components(folder):
    document = folder(
        {
            "api.json": first(paths=response("parts/pet.json")),
            "parts/pet.json": {"properties": {"tag": {"$ref": "../tags.json#/schemas/Tag"}}},
            "tags.json": {"schemas": {"Tag": {"type": "string"}}},
        }
    )
    assert schema_of(document) == {"$ref": "#/components/schemas/pet"}
    schemas = document.value["components"]["schemas"]
    assert schemas["pet"]["properties"]["tag"] == {"$ref": "#/components/schemas/Tag"}
    assert schemas["Tag"] == {"type": "string"}
    assert [file.path for file in document.files] == ["api.json", "parts/pet.json", "tags.json"]


def test_the_place_of_a_part_is_in_its_file(folder):
    document = folder(
        {
            "api.json": first(paths=response("tags.json#/schemas/Tag")),
            "tags.json": {"schemas": {"Tag": {"type": "string"}}},
        }
    )
    place = document.place_of("/components/schemas/Tag/type")
    assert (place.path, place.pointer) == ("tags.json", "/schemas/Tag/type")
    assert document.place_of("/paths/~1a").path == "api.json"


def test_a_target_with_a_name_that_is_taken_gets_another(folder):
    document = folder(
        {
            "api.json": first(
                paths=response("parts/Pet.json"),
                components={"schemas": {"Pet": {"type": "integer"}}},
            ),
            "parts/Pet.json": {"type": "string"},
        }
    )
    name = schema_of(document)["$ref"].rpartition("/")[2]
    assert name.startswith("Pet_")
    assert document.value["components"]["schemas"][name] == {"type": "string"}
    assert document.value["components"]["schemas"]["Pet"] == {"type": "integer"}


def test_a_path_item_of_another_file_is_read_from_there(folder):
    document = folder(
        {
            "api.json": first(paths={"/a": {"$ref": "paths/a.json", "summary": "mine"}}),
            "paths/a.json": {"get": {"parameters": [{"$ref": "p.json"}]}, "summary": "its"},
            "paths/p.json": {"name": "p", "in": "query"},
        }
    )
    item, pointer = resolve_part(document, document.value["paths"]["/a"], "/paths/~1a")
    assert (item["summary"], pointer) == ("mine", "/components/pathItems/a")
    assert resolve(document, item["get"]["parameters"][0])["name"] == "p"


def test_schemas_that_refer_to_each_other_across_files_end(folder):
    document = folder(
        {
            "api.json": first(paths=response("a.json")),
            "a.json": {"properties": {"b": {"$ref": "b.json"}}},
            "b.json": {"properties": {"a": {"$ref": "a.json"}}},
        }
    )
    lowering = SchemaLowering(document)
    root = lowering.lower(schema_of(document), "output", "/paths")
    assert lowering.needed(root).keys() == {"a", "b"}


@pytest.mark.parametrize(
    ("ref", "rule"),
    [
        ("https://example.com/x.json", "ref/remote"),
        ("//example.com/x.json", "ref/remote"),
        ("file:///etc/passwd", "ref/remote"),
        ("/etc/passwd", "ref/absolute"),
        ("~/x.json", "ref/absolute"),
        ("../secret.json", "ref/escapes"),
        ("a/../../secret.json", "ref/escapes"),
        ("%2e%2e/secret.json", "ref/escapes"),
        ("..\\secret.json", "ref/malformed"),
        ("none.json", "ref/dangling"),
        ("#/components/schemas/None", "ref/dangling"),
        ("#anchor", "ref/malformed"),
        (7, "ref/malformed"),
    ],
)
def test_a_reference_that_leads_elsewhere_is_refused_for_its_operation(folder, tmp_path, ref, rule):
    (tmp_path / "secret.json").write_text('{"type": "string"}', "utf-8")
    document = folder({"api.json": first(paths=response(ref))})
    finding = refusal(document)
    assert finding.rule == rule
    assert finding.pointer.endswith("/schema/$ref")
    assert [file.path for file in document.files] == ["api.json"]


def test_a_link_that_leads_out_of_the_folder_is_not_opened(folder, tmp_path):
    (tmp_path / "secret.json").write_text('{"type": "string"}', "utf-8")
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "link.json").symlink_to(tmp_path / "secret.json")
    document = folder({"api.json": first(paths=response("link.json"))})
    assert refusal(document).rule == "ref/escapes"


def test_a_pipe_is_not_opened(folder, tmp_path):
    (tmp_path / "api").mkdir()
    os.mkfifo(tmp_path / "api" / "pipe.json")
    document = folder({"api.json": first(paths=response("pipe.json"))})
    assert refusal(document).rule == "ref/dangling"


def test_a_file_that_cannot_be_parsed_refuses_its_operation(folder, tmp_path):
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "broken.json").write_text("{", "utf-8")
    document = folder({"api.json": first(paths=response("broken.json"))})
    assert refusal(document).rule == "ref/dangling"


def test_other_files_are_not_opened_when_one_file_was_given(tmp_path):
    (tmp_path / "pet.json").write_text('{"type": "string"}', "utf-8")
    (tmp_path / "api.json").write_text(json.dumps(first(paths=response("pet.json"))), "utf-8")
    document = normalise(read_source(tmp_path / "api.json"))
    assert refusal(document).rule == "ref/other-file"
    followed = normalise(read_source(tmp_path / "api.json", root=tmp_path))
    assert followed.refusals == ()


OPERATION = {"operationId": "list", "responses": response("../pet.json")["/a"]["get"]["responses"]}
PET = {"type": "object", "properties": {"name": {"type": "string"}}}


@pytest.mark.parametrize(
    "paths",
    [
        {"/a": {"get": {"$ref": "ops/list.json"}}},
        {"$ref": "ops/paths.json"},
        {"/a": {"$ref": "ops/paths.json#/~1a"}},
        {"/a": {"get": {"responses": {"$ref": "ops/list.json#/responses"}}}},
    ],
)
def test_references_where_openapi_allows_none_are_followed(folder, paths):
    files = {
        "api.json": first(paths=paths),
        "ops/list.json": OPERATION,
        "ops/paths.json": {"/a": {"get": {"$ref": "list.json"}}},
        "pet.json": PET,
    }
    document = folder(files)
    item = resolve(document, document.value["paths"]["/a"])
    content = item["get"]["responses"]["200"]["content"]
    schema = content["application/json"]["schema"]
    assert SchemaLowering(document).lower(schema, "output", "/a") == {"$ref": "#/$defs/pet"}
    assert {each.rule for each in document.notes} == {"ref/place"}


@pytest.mark.parametrize(
    "components",
    [
        {"schemas": {"$ref": "schemas.json"}},
        {"$ref": "components.json"},
        {"schemas": {"Pet": {"properties": {"$ref": "schemas.json#/Pet/properties"}}}},
    ],
)
def test_maps_behind_references_have_their_members(folder, components):
    document = folder(
        {
            "api.json": first(paths=response("#/components/schemas/Pet"), components=components),
            "schemas.json": {"Pet": PET},
            "components.json": {"schemas": {"$ref": "schemas.json"}},
        }
    )
    lowering = SchemaLowering(document)
    assert lowering.lower(schema_of(document), "output", "/a") == {"$ref": "#/$defs/Pet"}
    assert lowering.definitions["Pet"]["properties"] == PET["properties"]
    assert {each.rule for each in document.notes} == {"ref/place"}


def test_a_property_that_is_named_ref_is_no_reference(folder):
    schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    paths = response("#/components/schemas/Named")
    document = folder({"api.json": first(paths=paths, components={"schemas": {"Named": schema}})})
    lowering = SchemaLowering(document)
    lowering.lower(schema_of(document), "output", "/a")
    assert lowering.definitions["Named"] == schema


@pytest.mark.parametrize(
    ("target", "rule"),
    [
        ({"get": {"$ref": "missing.json"}}, "ref/dangling"),
        ({"get": {"$ref": "#/paths/~1a/get"}}, "ref/recursive"),
        ({"get": {"$ref": "#/paths/~1a/get/inner"}}, "ref/dangling"),
        ({"get": {"responses": {"$ref": "list.json"}}}, "ref/malformed"),
    ],
)
def test_references_that_lead_nowhere_are_refused_for_their_part_alone(folder, target, rule):
    document = folder({"api.json": first(paths={"/a": target}), "list.json": [1]})
    assert [each.rule for each in document.refusals] == [rule]


@pytest.mark.parametrize("beside", [{}, {"$ref": "#/components/schemas/Pet"}])
def test_properties_behind_a_reference_to_nothing_refuse_the_schema(folder, beside):
    broken = {**beside, "properties": {"$ref": "missing.json"}}
    schemas = {"Broken": broken, "Pet": PET}
    paths = response("#/components/schemas/Broken")
    document = folder({"api.json": first(paths=paths, components={"schemas": schemas})})
    assert refusal(document).rule == "ref/dangling"


def test_swagger_follows_such_references_too(folder):
    reply = {"description": "", "schema": {"$ref": "#/definitions/Pet"}}
    document = folder(
        {
            "api.json": {
                "swagger": "2.0",
                "info": {},
                "paths": {"/a": {"get": {"$ref": "list.json"}}},
                "definitions": {"$ref": "schemas.json"},
            },
            "schemas.json": {"Pet": PET},
            "list.json": {"responses": {"200": reply | {"schema": {"$ref": "schemas.json#/Pet"}}}},
        }
    )
    lowered = SchemaLowering(document).lower(schema_of_produces(document), "output", "/a")
    assert lowered == {"$ref": "#/$defs/Pet"}


def schema_of_produces(document):
    reply = document.value["paths"]["/a"]["get"]["responses"]["200"]
    return next(iter(reply["content"].values()))["schema"]


def test_anchors_and_schemas_with_an_id_are_found(folder):
    inner = {"type": "object", "properties": {"w": {"type": "integer"}}}
    big = {
        "$id": "https://schemas.example/Big",
        "properties": {"inner": {"$ref": "#/$defs/Inner"}, "box": {"$ref": "#box"}},
        "$defs": {"Inner": inner},
    }
    schemas = {"Big": big, "Box": {"$anchor": "box", **inner}, "Plain": {"$ref": "#box"}}
    paths = response("#/components/schemas/Big")
    document = folder({"api.json": first(paths=paths, components={"schemas": schemas})})
    lowering = SchemaLowering(document)
    lowering.lower(schema_of(document), "output", "/a")
    assert lowering.definitions["Big"]["properties"] == {
        "inner": {"$ref": "#/$defs/Inner"},
        "box": {"$ref": "#/$defs/Box"},
    }
    assert lowering.definitions["Inner"] == lowering.definitions["Box"] == inner


def test_an_anchor_that_nothing_has_is_refused(folder):
    document = folder({"api.json": first(paths=response("#nothing"))})
    found = refusal(document)
    assert found.rule == "ref/malformed"
    assert "'nothing'" in found.message


@pytest.mark.parametrize("has_own", [True, False])
def test_a_part_without_the_target_means_that_of_the_first_document(folder, has_own):
    """Authors split files for a tool that joins them before it follows `#/…`."""
    schemas = {"components": {"schemas": {"Pet": {"type": "string"}}}}
    own = {"components": {"schemas": {"Pet": {"type": "integer"}}}} if has_own else {}
    item = {**response("#/components/schemas/Pet")["/a"], **own}
    document = folder(
        {"api.json": first(paths={"/a": {"$ref": "a.json"}}, **schemas), "a.json": item}
    )
    operation = resolve(document, document.value["paths"]["/a"])["get"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert resolve(document, schema) == {"type": "integer" if has_own else "string"}
    found = [each.finding for each in document.notes]
    noted = [(each.rule, each.path, each.pointer) for each in found]
    place = "/get/responses/200/content/application~1json/schema/$ref"
    assert noted == ([] if has_own else [("ref/first-document", "a.json", place)])
