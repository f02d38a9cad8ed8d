"""Operations of an import become contract files, exactly and all together, or are refused."""

import json

import pytest
import yaml

from gateway.codegen.lowering.lower import lower
from gateway.contracts.finding import ContractRefused
from gateway.contracts.sources.tree import read_tree
from gateway.contracts.upstreams import lower_upstream
from gateway.errors import ConfigurationError, ContractError
from gateway.lint import lint
from gateway.openapi.folder.importing import import_new
from gateway.openapi.folder.reading import ImportFolder, read_import
from gateway.openapi.lowering.selection import OperationSelection
from gateway.project.ejecting.ejection import EjectionWish, eject, explained
from gateway.project.placing import place
from gateway.project.staging import with_generated
from gateway.project.starting import OWN_PACKAGES
from tests.vendors import contents, given

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
    import_new(folder, given(vendor, name), OperationSelection(), dry_run=False)
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


REFUSED = {
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
}
RULES = {
    "server": ("server",),
    **dict.fromkeys(("joined", "empty", "number", "reserved"), ("parameter",)),
    **dict.fromkeys(("content", "cookie", "header", "common"), ("parameter",)),
    "image": ("accept", "result"),
    **dict.fromkeys(("two", "unknown", "union", "silent"), ("result",)),
    "null": ("null",),
    "recursive": ("recursive",),
}


def test_what_contract_files_cannot_express_is_refused_by_name(project):
    imported(project, document(fine=operation(), **REFUSED))
    before = contents(project.folder)
    with pytest.raises(ContractRefused) as refused:
        ejected(project)
    found = {}
    for each in refused.value.findings:
        assert each.path == "upstreams/shop/vendor.json"
        assert each.fix
        name = each.message.partition(":")[0].removeprefix("shop.")
        found.setdefault(name, []).append(each.rule.removeprefix("eject/"))
    assert {name: tuple(sorted(rules)) for name, rules in found.items()} == RULES
    assert contents(project.folder) == before
    assert ejected(project, "fine").tools == ("shop.fine",)


@pytest.mark.parametrize(
    ("each", "message"),
    [
        (body("application/json", {"type": "array", "items": {}}), "not an object with known"),
        (body("multipart/form-data", THING), "its body is multipart/form-data"),
        (
            body("application/x-www-form-urlencoded", {"type": "object"}),
            "not an object with known",
        ),
    ],
)
def test_a_body_that_is_no_object_or_form_is_refused(project, each, message):
    imported(project, document("post", it=each))
    with pytest.raises(ContractRefused) as refused:
        ejected(project)
    assert [message in each.message for each in refused.value.findings] == [True]


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


def test_a_reported_result_and_a_taken_upstream_are_refused(project):
    folder = imported(project, document(a=operation(), b=operation()))
    with pytest.raises(ConfigurationError, match="has another base URL"):
        ejected(project, "a", upstream="store")
    with pytest.raises(ConfigurationError, match="the upstream shop is an imported document"):
        ejected(project, "a", upstream="shop")
    with pytest.raises(ConfigurationError, match=r"serves no tool 'aa'"):
        ejected(project, "aa")
    text = folder.files / "import.yaml"
    text.write_text(f"{text.read_text('utf-8')}results: report\n", "utf-8")
    with pytest.raises(ContractRefused, match="report"):
        ejected(project, "a")


@pytest.mark.parametrize(
    ("connector", "message"),
    [
        ("store", r"contract files already, in schemas/tools/store; edit"),
        ("golf", r"golf is not an import; `gateway add golf` copies its contract files"),
        ("shopp", r"there is no import 'shopp'; did you mean shop\?"),
    ],
)
def test_what_is_no_import_says_what_to_do_instead(project, connector, message):
    imported(project, document(a=operation()))
    with pytest.raises(ConfigurationError, match=message):
        eject(project, read_tree(project.schemas), EjectionWish(connector=connector))


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
    pattern = query({"type": "string", "pattern": "^\\d$"})
    imported(project, document(a=pattern, b=operation()))
    found = ejected(project, "a")
    with pytest.raises(ContractRefused) as refused:
        with_generated(project, found.files, found.removed)
    findings = explained(project, found, refused.value.findings)
    assert {each.rule for each in findings} == {"schema/pattern-unportable"}
    assert all("overlay" in each.fix for each in findings)


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
