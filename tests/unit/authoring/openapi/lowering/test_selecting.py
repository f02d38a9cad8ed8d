"""How documents name tools and which of them are selected."""

import pytest

from gateway.authoring.openapi.lowering import selecting
from gateway.authoring.openapi.lowering.records import WrongSelection
from gateway.authoring.openapi.lowering.selecting import MAX_NAME, snake_case
from tests.unit.tables import each_of

DOCUMENT = {
    "paths": {
        "/pets": {
            "get": {"operationId": "listPets", "tags": ["pets"]},
            "post": {"operationId": "addPet", "tags": ["pets", "admin"]},
        },
        "/owners": {"get": {"operationId": "listOwners", "tags": ["owners"]}},
        "/old": {"get": {"operationId": "twice"}, "post": {"operationId": "twice"}},
    }
}


@each_of(
    ("select", "served"),
    [
        ({}, {"GET /pets", "POST /pets", "GET /owners", "GET /old", "POST /old"}),
        ({"tags": ["pets"]}, {"GET /pets", "POST /pets"}),
        ({"tags": ["*s"], "methods": ["get"]}, {"GET /pets", "GET /owners"}),
        ({"paths": ["/o*"]}, {"GET /owners", "GET /old", "POST /old"}),
        ({"operations": ["list*"]}, {"GET /pets", "GET /owners"}),
        ({"operations": ["GET /o*", "addPet"]}, {"GET /owners", "GET /old", "POST /pets"}),
        ({"tags": ["pets"], "exclude": ["POST *"]}, {"GET /pets"}),
    ],
)
def test_operations_that_match_every_part_are_served(lowered, select, served):
    outcome = lowered(DOCUMENT, select=select)
    assert {f"{each.method} {each.path}" for each in outcome.connector.operations} == served
    assert (outcome.report.operations, outcome.report.selected) == (5, len(served))


@each_of(
    ("wishes", "pointer", "message"),
    [
        ({"select": {"tags": ["pet"]}}, "/select/tags/0", "'pet' matches nothing"),
        ({"select": {"exclude": ["listPts"]}}, "/select/exclude/0", "matches nothing"),
        ({"select": {"methods": ["PUT"]}}, "/select/methods/0", "matches nothing"),
        (
            {"select": {"tags": ["owners"], "methods": ["post"]}},
            "/select",
            "no operation matches all",
        ),
        ({"names": {"listPts": "a"}}, "/names/listPts", "there is no operation"),
        ({"effects": {"GET /no": "read"}}, "/effects/GET ~1no", "there is no operation"),
        ({"tool_limits": {"listPts": {"cost": 2}}}, "/tool_limits/listPts", "no operation"),
        ({"tool_policies": {"lst*": {}}}, "/tool_policies/lst*", "matches nothing in the"),
        (
            {"tool_results": {"list*": "report", "GET *": "nulls-absent"}},
            "/tool_results/GET *",
            "another pattern say different things",
        ),
        (
            {"tool_policies": {"addPet": {"attempts": {"max": 2}}}},
            "/tool_policies",
            "POST /pets is not safe to repeat",
        ),
        ({"names": {"twice": "a"}}, "/names/twice", "2 operations have"),
        ({"names": {"listPets": "a", "addPet": "a"}}, "/names", "is given to GET /pets"),
        ({"names": {"listPets": "a" * 60}}, "/names", "longer than 60"),
    ],
)
def test_a_mistake_in_import_yaml_is_an_error_at_its_place(lowered, wishes, pointer, message):
    with pytest.raises(WrongSelection, match=message) as wrong:
        lowered(DOCUMENT, **wishes)
    assert wrong.value.pointer == pointer


@pytest.mark.parametrize(
    ("select", "refused"),
    [
        ({}, ["/broken"]),
        ({"paths": ["/pets"]}, []),
        ({"paths": ["/b*", "/pets"]}, ["/broken"]),
        ({"tags": ["pets"]}, ["/broken"]),
    ],
)
def test_a_path_that_cannot_be_read_is_reported_if_it_may_be_selected(lowered, select, refused):
    broken = {"/broken": {"$ref": "https://elsewhere.example/item.json"}}
    outcome = lowered({"paths": DOCUMENT["paths"] | broken}, select=select)
    assert [each.operation for each in outcome.report.refused] == refused
    assert outcome.report.selected == outcome.report.served + len(refused)


def test_a_pattern_says_something_of_all_that_match_and_a_name_goes_before_it(lowered):
    outcome = lowered(
        DOCUMENT,
        results="report",
        tool_results={"list*": "nulls-absent", "listPets": "enforce"},
        tool_limits={"GET *": {"cost": 2}},
        effects={"* /old": "write"},
        policy={"timeoutSeconds": 90, "attempts": {"max": 2}},
        tool_policies={"*Pet*": {"timeoutSeconds": 7.5, "task": "auto"}},
    )
    found = {f"{each.method} {each.path}": each for each in outcome.connector.operations}
    assert {key: each.results for key, each in found.items()} == {
        "GET /pets": "enforce",
        "POST /pets": "report",
        "GET /owners": "nulls-absent",
        "GET /old": "report",
        "POST /old": "report",
    }
    assert {key for key, each in found.items() if each.limits} == {
        "GET /pets",
        "GET /owners",
        "GET /old",
    }
    assert {key for key, each in found.items() if each.effect == "write"} == {
        "POST /pets",
        "GET /old",
        "POST /old",
    }
    pets, owners = found["POST /pets"].policy, found["GET /owners"].policy
    assert (pets.timeout_seconds, pets.task) == (7.5, "auto")
    assert (owners.timeout_seconds, owners.task) == (90, "never")
    assert owners.attempts is not None
    assert owners.attempts.max == 2


def test_more_operations_than_the_limit_are_refused(lowered, monkeypatch):
    monkeypatch.setattr(selecting, "MAX_SERVED", 4)
    with pytest.raises(WrongSelection, match="5 operations are selected, more than 4"):
        lowered(DOCUMENT)
    assert lowered(DOCUMENT, select={"tags": ["pets"]}).report.served == 2


def test_an_operation_that_refers_to_no_object_is_refused_alone(lowered):
    item = {"get": {"$ref": "#/info/title"}, "post": {"$ref": 7}, "put": {}}
    report = lowered({"paths": {"/a": item}}).report
    assert report.causes == {"ref/malformed": 2}
    assert report.served == 1


ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def document(*operations):
    """A document of (method, path, operationId)."""
    paths = {}
    for method, path, operation_id in operations:
        operation = {"parameters": [ID]} if "{id}" in path else {}
        if operation_id is not None:
            operation["operationId"] = operation_id
        paths.setdefault(path, {})[method] = operation
    return {"paths": paths}


def tools(outcome):
    """The name of each tool by `GET /path`."""
    return {f"{each.method} {each.path}": each.tool for each in outcome.connector.operations}


@each_of(
    ("text", "name"),
    [
        ("listPets", "list_pets"),
        ("repos/get", "repos_get"),
        ("getHTTPStatus", "get_http_status"),
        ("readCoreV1Pod", "read_core_v1_pod"),
        ("Créer-un compte", "creer_un_compte"),
        ("__proto__", "proto"),
        ("删除", ""),
        ('a"; drop\n{{x}}', "a_drop_x"),
    ],
)
def test_names_are_words_of_ascii_in_lower_case(text, name):
    assert snake_case(text) == name


def test_operations_without_a_usable_id_are_named_by_method_and_path(lowered):
    outcome = lowered(
        document(("get", "/", None), ("get", "/pets/{id}", None), ("post", "/pets", "删除"))
    )
    assert tools(outcome) == {
        "GET /": "get_root",
        "GET /pets/{id}": "get_pets_id",
        "POST /pets": "post_pets",
    }


def test_a_name_that_begins_with_a_digit_gets_the_method(lowered):
    assert tools(lowered(document(("put", "/2fa", "2faEnable"))))["PUT /2fa"] == "put_2fa_enable"


def test_names_of_the_gateways_own_tools_are_taken(lowered):
    outcome = lowered(document(("get", "/a", "searchTools"), ("get", "/b", "continue_result")))
    assert tools(outcome) == {"GET /a": "get_a", "GET /b": "get_b"}
    assert {each.reason for each in outcome.report.renamed} == {
        "a tool of the gateway itself has the same name"
    }


def test_equal_names_are_solved_by_the_paths(lowered):
    outcome = lowered(document(("get", "/a", "list"), ("get", "/b", "List"), ("get", "/c", "own")))
    assert tools(outcome) == {"GET /a": "get_a", "GET /b": "get_b", "GET /c": "own"}
    assert [each.reason for each in outcome.report.renamed] == [
        "another operation has the same name"
    ] * 2


def test_paths_that_give_equal_names_get_digests(lowered):
    names = tools(lowered(document(("get", "/a-b", None), ("get", "/a_b", None))))
    assert len(set(names.values())) == 2
    assert all(name.startswith("get_a_b_") for name in names.values())


def test_long_names_are_cut_with_a_digest_of_the_operation(lowered):
    long = "list" + "VeryLong" * 12
    outcome = lowered(document(("get", "/a", long), ("get", "/b", long + "Indeed")))
    names = tools(outcome)
    assert len(set(names.values())) == 2
    assert all(len(f"shop_{name}") == MAX_NAME for name in names.values())
    assert [each.reason for each in outcome.report.renamed] == ["the name would be too long"] * 2


def test_an_added_operation_does_not_rename_the_others(lowered):
    before = [("get", "/a", "x" * 80), ("get", "/b", "list"), ("get", "/c", None)]
    old = tools(lowered(document(*before)))
    new = tools(lowered(document(("get", "/0", "first"), *before, ("get", "/d", "last"))))
    assert {key: new[key] for key in old} == old


def test_the_selection_does_not_change_names(lowered):
    both = document(("get", "/a", "list"), ("get", "/b", "list"))
    only = lowered(both, select={"paths": ["/b"]})
    assert tools(only) == {"GET /b": "get_b"}


def test_given_names_have_precedence_and_others_give_way(lowered):
    outcome = lowered(
        document(("get", "/a", "list"), ("get", "/b", "find")), names={"GET /b": "list"}
    )
    assert tools(outcome) == {"GET /a": "get_a", "GET /b": "list"}


def test_an_argument_with_another_name_says_the_vendors(lowered):
    listed = [
        {"name": "ids[]", "in": "query", "description": "Which ones.", "schema": {}},
        {"name": "城市", "in": "query", "schema": {"type": "string"}},
        {"name": "$top", "in": "query", "schema": True},
        {"name": "top", "in": "query", "schema": {"type": "integer"}},
        {"name": "plain", "in": "query", "description": "As it is.", "schema": {}},
    ]
    outcome = lowered({"paths": {"/a": {"get": {"parameters": listed}}}})
    (found,) = outcome.connector.operations
    texts = {
        name: each.get("description")
        for name, each in found.input_schema["properties"].items()
        if name != "fields"
    }
    assert texts == {
        "ids": "Which ones. Sent as `ids[]`.",
        "value": "Sent as `城市`.",
        "top_query": "Sent as `$top`.",
        "top_query_2": "Sent as `top`.",
        "plain": "As it is.",
    }
    (note,) = (each for each in outcome.report.notes if each.rule == "argument/renamed")
    assert "ids[] as ids" in note.message


def test_long_names_are_cut_between_words_and_keep_their_ends(lowered):
    begin = "actionsGetActionsCacheRetentionLimitOfSomeOtherThingsFor"
    operations = [("get", f"/{end}", f"{begin}{end}") for end in ("Enterprise", "Organization")]
    outcome = lowered(document(*operations), long_names="words")
    assert tools(outcome) == {
        "GET /Enterprise": "actions_get_cache_retention_other_things_for_enterprise",
        "GET /Organization": "actions_get_cache_other_things_for_organization",
    }
    assert [each.reason for each in outcome.report.renamed] == ["the name would be too long"] * 2


def test_names_that_are_equal_when_cut_are_cut_elsewhere_and_get_digests_last(lowered):
    ends = ("alpha", "beta")
    long = [("get", f"/{end}", f"aa_bb_cc_dd_{end}_{'e' * 25}_{'f' * 25}") for end in ends]
    assert all("alpha" in name or "beta" in name for name in cut_names(lowered, long).values())
    twins = [("get", f"/{'a' * 30}{sign}{'b' * 60}", None) for sign in "-_"]
    assert len(set(cut_names(lowered, twins).values())) == 2


def cut_names(lowered, operations):
    names = tools(lowered(document(*operations), long_names="words"))
    assert all(len(f"shop_{name}") <= MAX_NAME for name in names.values())
    return names
