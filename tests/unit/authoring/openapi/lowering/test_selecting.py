"""The selection: tags, paths, methods, operations and exclusions; mistakes are errors."""

import pytest

from gateway.authoring.openapi.lowering import selecting
from gateway.authoring.openapi.lowering.records import WrongSelection
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
