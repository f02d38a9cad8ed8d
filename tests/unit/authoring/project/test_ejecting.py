"""Operations of an import become contract files, exactly and all together, or are refused."""

import json
from pathlib import PurePosixPath

import pytest
import yaml

from gateway.authoring.codegen.lowering import lower
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.contracts.upstreams import lower_upstream
from gateway.authoring.lint import lint
from gateway.authoring.openapi.folder import ImportFolder, read_import
from gateway.authoring.openapi.importing import import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.project.changes import place
from gateway.authoring.project.ejecting.ejection import EjectionWish, eject, explained
from gateway.authoring.project.ejecting.forms import problems_of
from gateway.authoring.project.staging import OWN_PACKAGES, with_generated
from gateway.contract.values.schema import Validator
from gateway.errors import ConfigurationError, ContractError
from tests.unit.edits import rewrite
from tests.vendors import given, written

THING = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}
COOKIE = {"type": "apiKey", "in": "cookie", "name": "sid"}
ISSUES = {"tokenUrl": "https://x.example/token", "scopes": {"read": "Reads"}}
LOGS_IN = {"authorizationUrl": "https://x.example/login", **ISSUES}


def json_of(schema, status="200"):
    return {status: {"description": "It", "content": {"application/json": {"schema": schema}}}}


def operation(**members):
    return {"responses": json_of(THING), **members}


def query(schema, **members):
    return operation(parameters=[{"name": "p", "in": "query", "schema": schema, **members}])


def body(media_type, schema, **members):
    content = {"content": {media_type: {"schema": schema}}, "required": True, **members}
    return operation(requestBody=content)


def document(method="get", **operations):
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.example/v1"}],
        "security": [{"key": []}],
        "components": {
            "securitySchemes": {
                "key": KEY,
                "cookie": COOKIE,
                "basic": {"type": "http", "scheme": "basic"},
                "login": {"type": "openIdConnect", "openIdConnectUrl": "https://x.example"},
                "grant": {"type": "oauth2", "flows": {"clientCredentials": ISSUES}},
                "stored": {"type": "oauth2", "flows": {"authorizationCode": LOGS_IN}},
                "tls": {"type": "mutualTLS"},
            },
            "schemas": {
                **{
                    f"Ring{number}": {
                        "type": "object",
                        "properties": {
                            "next": {"$ref": f"#/components/schemas/Ring{(number + 1) % 41}"}
                        },
                    }
                    for number in range(41)
                },
                "Tree": {
                    "type": "object",
                    "properties": {
                        "below": {"$ref": "#/components/schemas/Tree"},
                        "key": {"type": "string", "writeOnly": True},
                    },
                },
            },
        },
        "paths": {
            f"/{name}": {method: {"operationId": name, **each}} for name, each in operations.items()
        },
    }


def imported(project, vendor, name="vendor.json"):
    folder = ImportFolder(schemas=project.schemas, connector="shop")
    written(folder, import_new(folder, given(vendor, name), OperationSelection()))
    return folder


def ejected(project, *tools, **wishes):
    wish = EjectionWish(connector="shop", tools=tools, **wishes)
    return eject(project, read_tree(project.schemas), wish)


def placed(project, *tools, **wishes):
    found = ejected(project, *tools, **wishes)
    place(project.folder, found.files, found.removed)
    return found


def faults(project):
    return [
        f"{each.path} {each.rule} {each.message}"
        for each in lint(read_tree(project.schemas), packages=OWN_PACKAGES)
        if each.severity == "error"
    ]


UNMAPPED = {
    "server": operation(servers=[{"url": "https://other.example"}]),
    "joined": query({"type": "array", "items": {"type": "string"}, "minItems": 1}, explode=False),
    "empty": query({"type": "array", "items": {"type": "string"}}),
    "number": query({"type": "number"}),
    "reserved": query({"type": "string"}, allowReserved=True),
    "content": operation(
        parameters=[{"name": "p", "in": "query", "content": {"application/json": {"schema": {}}}}]
    ),
    "cookie": operation(parameters=[{"name": "p", "in": "cookie", "schema": {"type": "string"}}]),
    "header": operation(parameters=[{"name": "P", "in": "header", "schema": {"type": "number"}}]),
    "common": operation(
        parameters=[{"name": "User-Agent", "in": "header", "schema": {"type": "string"}}]
    ),
    "silent": operation(responses={"200": {"description": "x"}}),
    "image": operation(responses={"200": {"description": "x", "content": {"image/png": {}}}}),
    "two": operation(responses={**json_of(THING), "204": {"description": "x"}}),
    "unknown": operation(responses=json_of({})),
    "union": operation(responses=json_of({"anyOf": [THING, {"type": "string"}]})),
    "null": operation(
        responses=json_of({"type": "object", "properties": {"n": {"type": ["string", "null"]}}})
    ),
    "recursive": operation(responses=json_of({"$ref": "#/components/schemas/Ring0"})),
    "nothing": operation(responses=json_of({"type": ["array", "null"], "items": THING})),
}
RULES = {
    "server": ("server",),
    **dict.fromkeys(("joined", "empty", "number", "reserved"), ("parameter",)),
    **dict.fromkeys(("content", "cookie", "header", "common"), ("parameter",)),
    "image": ("accept", "result"),
    **dict.fromkeys(("two", "unknown", "union", "silent"), ("result",)),
    **dict.fromkeys(("null", "nothing"), ("null",)),
    "recursive": ("recursive",),
}


def bindings(project):
    """`x-binding` of each tool of the shop."""
    return {
        path.stem: yaml.safe_load(path.read_text("utf-8"))["post"]["x-binding"]
        for path in (project.schemas / "tools/shop").glob("*.yaml")
    }


def test_what_a_field_map_cannot_express_is_a_call_of_the_import(project):
    folder = imported(project, document(fine=operation(), **UNMAPPED))
    connector = read_import(folder).connector
    rules = {
        each.tool: tuple(
            sorted(problem.rule for problem in problems_of(connector, each, omits_null=False))
        )
        for each in connector.operations
    }
    assert rules == {"fine": (), **RULES}
    found = placed(project)
    assert faults(project) == []
    calls = bindings(project)
    assert calls.pop("fine")["upstream"] == found.upstream == "shop_own"
    assert calls == {name: {"upstream": "shop", "operationId": name} for name in UNMAPPED}
    noted = {each.partition(" calls")[0] for each in found.notes if "calls the operation" in each}
    assert noted == {f"shop.{name}" for name in UNMAPPED}
    after = read_import(folder).connector
    assert (after.operations, [each.tool for each in after.bound]) == ((), sorted(UNMAPPED))


WITHOUT_FIELD_MAP = {
    "list": (body("application/json", {"type": "array", "items": {}}), "not an object with known"),
    "parts": (body("multipart/form-data", THING), "its body is multipart/form-data"),
    "form": (
        body("application/x-www-form-urlencoded", {"type": "object"}),
        "not an object with known",
    ),
    "pattern": (query({"type": "string", "pattern": "^\\d$"}), "what contract files refuse"),
}


def test_each_tool_without_a_field_map_says_why(project):
    imported(project, document("post", **{n: each for n, (each, _) in WITHOUT_FIELD_MAP.items()}))
    found = placed(project)
    assert len(found.notes) == len(WITHOUT_FIELD_MAP)
    for name, (_, message) in WITHOUT_FIELD_MAP.items():
        (note,) = (each for each in found.notes if each.startswith(f"shop.{name} "))
        assert message in note
    assert found.upstream is None
    assert not (project.schemas / "upstreams/shop_own").exists()
    assert faults(project) == []


def test_tools_call_the_import_if_that_is_wanted(project):
    folder = imported(project, document(a=operation(), b=operation()))
    assert placed(project, "a", binds=True).notes == ()
    assert bindings(project) == {"a": {"upstream": "shop", "operationId": "a"}}
    with pytest.raises(ConfigurationError, match="leave out --upstream"):
        ejected(project, "b", binds=True, upstream="store")
    connector = read_import(folder).connector
    assert [each.tool for each in (*connector.operations, *connector.bound)] == ["b", "a"]


def test_a_call_of_what_the_import_lacks_is_refused(project):
    imported(project, document(a=operation(), b=operation()))
    placed(project, "a", binds=True)
    rewrite(project.schemas / "tools/shop/a.yaml", "    operationId: a\n", "    operationId: aa\n")
    with pytest.raises(
        ContractError, match=r"the import shop has no operation 'aa' that can be called; write"
    ):
        with_generated(project, {})


def test_a_call_of_an_import_has_no_field_map(project):
    imported(project, document(a=operation(), b=operation()))
    placed(project, "a", binds=True)
    rewrite(
        project.schemas / "tools/shop/a.yaml",
        "    operationId: a\n",
        "    operationId: a\n    response: {'200': {id: {const: x}}}\n",
    )
    assert [each.partition(" ")[2][:50] for each in faults(project)] == [
        "binding/field-map shop is an import, whose operati"
    ]


def test_what_the_operation_says_of_its_arguments_holds_for_the_tool(project):
    """Secrets behind references, and the types of files in results."""
    secret = {"type": "object", "properties": {"pin": {"type": "string", "format": "password"}}}
    media = {"application/json": {"schema": {"$ref": "#/components/schemas/Secret"}}}
    image = {"200": {"description": "x", "content": {"image/png": {}}}}
    parameter = {"name": "s", "in": "query", "content": media}
    vendor = document(a=operation(parameters=[parameter], responses=image))
    vendor["components"]["schemas"]["Secret"] = secret
    imported(project, vendor)
    found = placed(project)
    files = with_generated(project, found.files).files
    text = files[PurePosixPath("generated/operations/shop.py")].decode()
    assert 'sensitive=("/s/pin",)' in text
    assert 'file_types=("image/png",)' in text
    published = yaml.safe_load(files[PurePosixPath("generated/openapi.json")])
    success = published["paths"]["/v1/shop/a"]["post"]["responses"]["200"]
    assert list(success["content"]) == ["application/json", "image/png"]


def test_schemas_of_calls_leave_out_what_contracts_refuse(project):
    members = {
        "digits": {"type": "string", "pattern": "^\\d+$", "maxLength": 3},
        "unique": {"type": "array", "uniqueItems": True, "items": {"type": "integer"}},
        "no": {"not": {"pattern": "\\s"}},
        "parts": {
            "type": "object",
            "patternProperties": {"^\\d": {}},
            "additionalProperties": False,
        },
        "odd name": {"type": "string"},
        "tree": {"$ref": "#/components/schemas/Tree"},
    }
    schema = {"type": "object", "properties": members}
    imported(project, document("post", it=body("application/json", schema)))
    placed(project)
    assert faults(project) == []
    arguments = yaml.safe_load((project.schemas / "tools/shop/it.input.json").read_text("utf-8"))
    found = arguments["properties"]
    assert found["digits"] == {"type": "string", "maxLength": 3, "description": "The digits."}
    assert "uniqueItems" not in found["unique"]
    assert "not" not in found["no"]
    assert found["parts"]["additionalProperties"] == {}
    assert "$defs" not in arguments
    gate = Validator(arguments)
    assert gate.admits({"digits": "abc", "unique": [1, 1], "parts": {"1": 2}, "tree": {}})
    assert not gate.admits({"digits": "abcd"})


def test_a_part_of_an_import_is_ejected_and_the_rest_stays(project):
    pick = query({"type": "string", "enum": ["a", "b"]})
    folder = imported(project, document(keep=operation(), go=operation(), pick=pick))
    text = folder.files / "import.yaml"
    text.write_text(f"# Ours.\n{text.read_text('utf-8')}", "utf-8")
    assert placed(project, "go").upstream == "shop_own"
    assert text.read_text("utf-8").startswith("# Ours.\n")
    assert [each.tool for each in read_import(folder).connector.operations] == ["keep", "pick"]
    found = placed(project, "shop.pick")
    assert "GATEWAY_SHOP_OWN_KEY, GATEWAY_SHOP_OWN_BASE_URL" in found.notes[-1]
    assert [each.tool for each in read_import(folder).connector.operations] == ["keep"]
    assert faults(project) == []
    upstream = yaml.safe_load((project.schemas / "upstreams/shop_own/openapi.yaml").read_text())
    assert list(upstream["paths"]) == ["/go", "/pick"]
    index = (project.schemas / "openapi.yaml").read_text("utf-8")
    assert index.count("./upstreams/shop_own/openapi.yaml") == 1


@pytest.mark.parametrize(
    "select",
    [
        "select:\n  # ours\n  tags: []\n",
        "select:\n  exclude: # ours\n    - more\n",
        "select:\n  exclude: [more]  # ours\n",
        "select: {exclude: [more]}  # ours\n",
    ],
)
def test_the_selection_excludes_what_was_ejected(project, select):
    folder = imported(project, document(keep=operation(), more=operation(), go=operation()))
    text = folder.files / "import.yaml"
    text.write_text(f"{text.read_text('utf-8')}{select}", "utf-8")
    placed(project, "go")
    wishes, _ = folder.wishes()
    assert wishes.select.exclude == (*(("more",) if "more" in select else ()), "GET /go")
    assert ("# ours" in text.read_text("utf-8")) is ("[" not in select or "tags" in select)


def test_a_whole_import_leaves_and_its_settings_keep_their_names(project):
    """The vendor's document has the name of the contract that takes its place."""
    folder = imported(project, document(a=operation(), b=operation()), "openapi.yaml")
    found = ejected(project)
    change = with_generated(project, found.files, found.removed)
    place(project.folder, change.files, change.removed)
    assert found.upstream == "shop"
    assert [path.name for path in folder.files.iterdir()] == ["openapi.yaml"]
    upstream = yaml.safe_load((folder.files / "openapi.yaml").read_text("utf-8"))
    assert upstream["components"]["securitySchemes"] == {"key": KEY}
    assert upstream["paths"]["/a"]["get"]["security"] == [{"key": []}]
    assert faults(project) == []


def test_credentials_of_all_kinds_and_their_alternatives_stay(project):
    alternatives = [
        [{"key": []}, {"cookie": []}],
        [{}, {"basic": [], "cookie": []}],
        [{"grant": ["read"]}, {"stored": ["read"]}, {"login": []}],
        [{"tls": []}],
        [],
    ]
    operations = {f"o{at}": operation(security=each) for at, each in enumerate(alternatives)}
    folder = imported(project, document(**operations))
    before = read_import(folder).connector
    with_generated(project, placed(project).files)
    after = lower_upstream(read_tree(project.schemas), "shop")
    assert after.slots == before.slots
    for own in before.operations:
        found = after.find(own.tool)
        assert found.slots == tuple(tuple(use.slot for use in uses) for uses in own.security)
        assert found.scopes == tuple(tuple(use.scopes for use in uses) for uses in own.security)
    assert faults(project) == []


def test_a_null_that_may_be_absent_is_left_out_if_that_is_accepted(project):
    members = {"n": {"type": ["string", "null"]}, "m": {"type": ["string", "null"]}}
    schema = {"type": "object", "required": ["m"], "properties": members}
    imported(project, document(a=operation(responses=json_of(schema))))
    found = placed(project, omits_null=True)
    assert "shop.a: a null of its member n is left out" in found.notes
    tool = yaml.safe_load((project.schemas / "tools/shop/a.yaml").read_text("utf-8"))
    assert tool["post"]["x-binding"]["response"]["200"] == {
        "m": {"value": "$response.body#/m", "default": None},
        "n": {"value": "$response.body#/n", "omitIfAbsent": True},
    }
    assert faults(project) == []


def test_an_upstream_that_is_taken_is_refused(project):
    folder = imported(project, document(a=operation(), b=operation()))
    with pytest.raises(ConfigurationError, match="has another base URL"):
        ejected(project, "a", upstream="store")
    with pytest.raises(ConfigurationError, match="the upstream shop is an imported document"):
        ejected(project, "a", upstream="shop")
    with pytest.raises(ConfigurationError, match=r"serves no tool 'aa'"):
        ejected(project, "aa")
    text = folder.files / "import.yaml"
    text.write_text(f"{text.read_text('utf-8')}results: report\n", "utf-8")
    assert "results: report" in ejected(project, "a").notes[0]


def test_what_is_no_import_says_what_to_do_instead(project):
    imported(project, document(a=operation()))
    tree = read_tree(project.schemas)
    for connector, message in {
        "store": r"contract files already, in schemas/tools/store; edit",
        "golf": r"golf is not an import; `gateway add golf` copies its contract files",
        "shopp": r"there is no import 'shopp'; did you mean shop\?",
    }.items():
        with pytest.raises(ConfigurationError, match=message):
            eject(project, tree, EjectionWish(connector=connector))


def test_a_tool_is_either_imported_or_written(project):
    """An import may share its connector with contract files, but no tool."""
    folder = imported(project, document(a=operation(), b=operation()))
    before = (folder.files / "import.yaml").read_bytes()
    found = ejected(project, "a")
    change = with_generated(project, found.files, found.removed)
    place(project.folder, change.files, change.removed)
    (folder.files / "import.yaml").write_bytes(before)
    with pytest.raises(ContractError, match=r"shop\.a is in tools/shop and in the import shop"):
        with_generated(project, {})


def test_what_no_validator_heeds_is_left_out_and_the_rest_allows_the_same(project):
    schema = {
        "type": "object",
        "required": ["raw"],
        "properties": {
            "raw": {"type": "string", "contentEncoding": "base64", "examples": [1]},
            "count": {"type": "integer", "minimum": -(2**63), "default": "none"},
            "either": {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "string"}]},
        },
    }
    imported(project, document("post", a=body("application/json", schema)))
    placed(project)
    assert faults(project) == []
    tool = project.schemas / "tools/shop/a.input.json"
    properties = yaml.safe_load(tool.read_text("utf-8"))["properties"]
    assert properties["raw"] == {"type": "string", "description": "The raw."}
    assert properties["count"]["minimum"] == 1 - 2**63
    assert "default" not in properties["count"]
    assert properties["count"]["description"] == 'The vendor\'s default is "none".'
    assert properties["either"]["anyOf"][0]["additionalProperties"] == {}


def test_a_finding_of_the_lint_names_the_document_as_the_cause(project):
    imported(project, document(a=operation(), b=operation()))
    found = ejected(project, "a")
    known = {
        "line": 1,
        "pointer": "",
        "rule": "some/rule",
        "message": "it is odd",
        "fix": "Edit it.",
    }
    ours, other = "tools/shop/a.yaml", "tools/store/b.yaml"
    findings = [Finding(path=each, **known) for each in (ours, other)]
    of_ejected, of_another = explained(project, found, findings)
    assert of_ejected.message == "in the contract, it is odd"
    assert "overlay" in of_ejected.fix
    assert of_another == findings[1]


def test_a_body_that_is_optional_stays_optional_and_complete(project):
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {}}}
    imported(project, document("post", it=body("application/json", schema, required=False)))
    placed(project)
    assert faults(project) == []
    arguments = yaml.safe_load((project.schemas / "tools/shop/it.input.json").read_text("utf-8"))
    assert arguments["dependentRequired"] == {"b": ["a"]}
    sent = lower_upstream(read_tree(project.schemas), "shop").find("it")
    assert sent.is_body_required is False


def test_a_result_without_members_of_its_own_is_the_whole_reply(project):
    other = {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}}
    results = {
        "either": {"anyOf": [THING, other]},
        "both": {"allOf": [THING, other]},
        "dictionary": {"type": "object", "additionalProperties": {"type": "integer"}},
        "free": {"type": "object"},
        "texts": {"oneOf": [{"type": "string"}, {"type": "array", "items": THING}]},
    }
    imported(project, document(**{n: operation(responses=json_of(s)) for n, s in results.items()}))
    found = placed(project)
    assert faults(project) == []
    with_generated(project, found.files)
    for name in results:
        tool = yaml.safe_load((project.schemas / f"tools/shop/{name}.yaml").read_text("utf-8"))
        whole = "$response.body"
        is_wrapped = name == "texts"
        assert tool["post"]["x-binding"]["response"]["200"] == (
            {"result": whole} if is_wrapped else whole
        )


def test_a_schema_that_contains_itself_is_written_once(project):
    tree = {"$ref": "#/components/schemas/Tree"}
    wanted = body("application/json", tree) | {"responses": json_of(tree)}
    folder = imported(project, document("post", plant=wanted))
    (before,) = read_import(folder).connector.operations
    placed(project)
    assert not faults(project)
    files = project.schemas / "tools" / "shop"
    arguments = json.loads((files / "plant.input.json").read_text())
    assert arguments["$defs"]["Tree"]["properties"]["below"]["$ref"] == "#/$defs/Tree"
    (after,) = (each for each in lower(read_tree(project.schemas)).tools if each.tool == "plant")
    assert set(before.sensitive) == set(after.sensitive) == {"/key", "/below/key", "/below/below"}
