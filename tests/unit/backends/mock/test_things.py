"""The mock of an imported document remembers the things that the document shows."""

import json

import pytest

from gateway.contract.imported import ImportedParameter, ImportedReply
from gateway.contract.values.schema import Validator, with_definitions
from tests.shelter import (
    DEFINITIONS,
    GONE,
    ID,
    MISSING,
    NAMED,
    OPERATIONS,
    PET,
    PETS,
    answers,
    body_of,
    connector,
    id_parameter,
    opened,
    operation,
    sender,
)

TOM = {"name": "Tom", "kind": "cat"}


def is_valid(value, schema=PET):
    return Validator(with_definitions(schema, DEFINITIONS)).admits(value)


async def created(send, **members):
    reply = await send("POST", "/pets", TOM | members)
    assert reply.status == 201
    return json.loads(reply.body)


async def test_what_is_created_can_be_read(send):
    pet = await created(send, note="shy")
    reply = await send("GET", f"/pets/{pet['id']}")
    assert (reply.status, json.loads(reply.body)) == (200, pet)
    assert (pet["name"], pet["kind"], pet["note"]) == ("Tom", "cat", "shy")
    assert is_valid(pet)


async def test_the_address_of_a_created_thing_is_in_the_reply(send):
    reply = await send("POST", "/pets", TOM)
    assert reply.headers["location"] == f"/pets/{json.loads(reply.body)['id']}"


async def test_created_things_have_different_identities(send):
    assert len({(await created(send))["id"] for _ in range(20)}) == 20


async def test_what_is_created_is_listed_last(send):
    before = json.loads((await send("GET", "/pets")).body)
    pet = await created(send)
    after = json.loads((await send("GET", "/pets")).body)
    assert after == [*before, pet]
    assert is_valid(after, PETS)


async def test_a_list_has_things_from_the_beginning_that_can_be_read(send):
    pets = json.loads((await send("GET", "/pets")).body)
    assert pets
    for pet in pets:
        assert json.loads((await send("GET", f"/pets/{pet['id']}")).body) == pet


async def test_a_limit_shortens_the_list(send):
    pet = await created(send)
    assert json.loads((await send("GET", "/pets?limit=1")).body) == [pet]


async def test_a_change_keeps_the_other_members(send):
    pet = await created(send, note="shy")
    reply = await send("PATCH", f"/pets/{pet['id']}", {"name": "Tim", "kind": "dog"})
    assert json.loads(reply.body) == pet | {"name": "Tim", "kind": "dog"}
    assert json.loads((await send("GET", f"/pets/{pet['id']}")).body)["name"] == "Tim"


async def test_null_in_a_change_removes_a_member_that_cannot_be_null(send):
    schema = {"note": {"type": ["string", "null"]}}
    change = operation(
        "change_pet", "PATCH", "/pets/{petId}", answers(PET), inputs=schema, body=body_of(schema)
    )
    others = [each for each in OPERATIONS if each.tool != "change_pet"]
    send = sender(opened(connector(change, *others)))
    pet = await created(send, note="shy", chip="123456789012345")
    changed = json.loads((await send("PATCH", f"/pets/{pet['id']}", {"note": None})).body)
    assert changed == {name: value for name, value in pet.items() if name != "note"}
    emptied = json.loads((await send("PATCH", f"/pets/{pet['id']}", {"chip": None})).body)
    assert emptied == changed | {"chip": None}


async def test_a_replacement_drops_what_the_caller_set_before(send):
    pet = await created(send, note="shy")
    reply = await send("PUT", f"/pets/{pet['id']}", {"name": "Rex", "kind": "dog"})
    replaced = json.loads(reply.body)
    assert (replaced["id"], replaced["name"], replaced["kind"]) == (pet["id"], "Rex", "dog")
    assert replaced.get("note") != "shy"
    assert json.loads((await send("GET", f"/pets/{pet['id']}")).body) == replaced


async def test_a_replacement_creates_what_is_missing(send):
    assert (await send("GET", "/pets/77")).status == 404
    assert (await send("PUT", "/pets/77", TOM)).status == 200
    assert json.loads((await send("GET", "/pets/77")).body)["id"] == 77


async def test_what_is_deleted_is_gone(send):
    pet = await created(send)
    reply = await send("DELETE", f"/pets/{pet['id']}")
    assert (reply.status, reply.body) == (204, b"")
    for method, body in (("GET", None), ("PATCH", TOM), ("DELETE", None)):
        assert (await send(method, f"/pets/{pet['id']}", body)).status == 404
    assert pet not in json.loads((await send("GET", "/pets")).body)


async def test_a_thing_from_the_beginning_can_be_deleted(send):
    first, *others = json.loads((await send("GET", "/pets")).body)
    assert (await send("DELETE", f"/pets/{first['id']}")).status == 204
    assert json.loads((await send("GET", "/pets")).body) == others


async def test_a_missing_thing_gets_the_declared_error(send):
    reply = await send("GET", "/pets/9")
    body = json.loads(reply.body)
    assert (reply.status, body["status"]) == (404, 404)
    assert body["message"] == "Nothing exists with this identity."
    assert is_valid(body, {"$ref": "#/$defs/Error"})


async def test_members_that_the_schema_refuses_are_not_stored(send):
    pet = await created(send, unknown=1)
    assert "unknown" not in pet
    assert is_valid(pet)


async def test_a_read_without_a_declared_404_finds_every_thing_that_was_not_deleted():
    read = operation("read", "GET", "/pets/{petId}", answers(PET))
    delete = operation("delete", "DELETE", "/pets/{petId}", GONE)
    create = operation("create", "POST", "/pets", answers(PET), inputs=NAMED, body=body_of(NAMED))
    send = sender(opened(connector(read, delete, create)))
    assert json.loads((await send("GET", "/pets/9")).body)["id"] == 9
    assert (await send("DELETE", "/pets/9")).status == 204
    assert (await send("GET", "/pets/9")).status == 404


async def test_things_that_nobody_can_create_exist():
    read = operation(
        "read", "GET", "/pets/{petId}", answers(PET), MISSING, inputs=ID,
        parameters=(id_parameter(),),
    )  # fmt: skip
    change = operation("change", "PATCH", "/pets/{petId}", answers(PET), body=body_of(NAMED))
    send = sender(opened(connector(read, change)))
    assert json.loads((await send("GET", "/pets/9")).body)["id"] == 9
    await send("PATCH", "/pets/9", {"name": "Kim"})
    assert json.loads((await send("GET", "/pets/9")).body)["name"] == "Kim"


async def test_each_parent_has_things_of_its_own():
    create = operation("create", "POST", "/towns/{town}/pets", answers(PET), body=body_of(NAMED))
    read = operation("read", "GET", "/towns/{town}/pets/{id}", answers(PET), MISSING)
    send = sender(opened(connector(create, read)))
    pet = json.loads((await send("POST", "/towns/a/pets", TOM)).body)
    assert json.loads((await send("GET", f"/towns/a/pets/{pet['id']}")).body) == pet
    assert (await send("GET", f"/towns/b/pets/{pet['id']}")).status == 404


@pytest.mark.parametrize(
    ("parameter", "member"),
    [("petId", "petId"), ("pet_id", "petId"), ("petName", "name"), ("pet", "id"), ("slug", "slug")],
)
async def test_the_identity_is_the_property_of_the_parameter(parameter, member):
    members = {name: {"type": "string"} for name in ("id", member, "age")}
    thing = {"type": "object", "required": sorted(members), "properties": members}
    read = operation("read", "GET", f"/pets/{{{parameter}}}", answers(thing), MISSING)
    create = operation("create", "POST", "/pets", answers(thing), body=body_of(members))
    send = sender(opened(connector(create, read)))
    pet = json.loads((await send("POST", "/pets", {member: "a b/c", "age": "old"})).body)
    assert (pet[member], pet["age"]) == ("a b/c", "old")
    assert json.loads((await send("GET", "/pets/a%20b%2Fc")).body) == pet


async def test_things_are_found_inside_of_an_envelope():
    envelope = {"type": "object", "required": ["data"], "properties": {"data": PET}}
    page = {
        "type": "object",
        "required": ["items", "total"],
        "properties": {"items": PETS, "total": {"type": "integer"}},
    }
    create = operation("create", "POST", "/pets", answers(envelope), body=body_of(NAMED))
    read = operation("read", "GET", "/pets/{id}", answers(envelope), MISSING)
    every = operation("list", "GET", "/pets", answers(page))
    send = sender(opened(connector(create, read, every)))
    pet = json.loads((await send("POST", "/pets", TOM)).body)["data"]
    assert pet["name"] == "Tom"
    assert json.loads((await send("GET", f"/pets/{pet['id']}")).body) == {"data": pet}
    listed = json.loads((await send("GET", "/pets")).body)
    assert listed["items"][-1] == pet
    assert listed["total"] == len(listed["items"])


async def test_a_number_is_not_the_identity_of_a_text():
    thing = {
        "type": "object",
        "required": ["id", "key_id", "name"],
        "properties": {
            "id": {"type": "integer"},
            "key_id": {"type": "string"},
            "name": {"type": "string"},
        },
    }

    async def read(parameter, kind, text):
        found = ImportedParameter(member="p", name=parameter, location="path", is_required=True)
        inputs = {"p": {"type": kind}}
        one = operation(
            "read", "GET", f"/keys/{{{parameter}}}", answers(thing), inputs=inputs,
            parameters=(found,),
        )  # fmt: skip
        reply = await sender(opened(connector(one)))("GET", f"/keys/{text}")
        return json.loads(reply.body)

    assert (await read("gpg_key_id", "integer", "7"))["id"] == 7
    assert (await read("gpg_key_id", "string", "k7"))["key_id"] == "k7"
    assert (await read("key", "string", "k7"))["name"] == "k7"


async def test_things_are_kept_by_operations_without_a_declared_success():
    read = operation("read", "GET", "/pets/{petId}", answers(PET), MISSING)
    create = operation("create", "POST", "/pets", body=body_of(NAMED))
    delete = operation("delete", "DELETE", "/pets/{petId}", MISSING)
    send = sender(opened(connector(read, create, delete)))
    made = await send("POST", "/pets", TOM)
    assert made.status == 204
    assert json.loads((await send("GET", made.headers["location"])).body)["name"] == "Tom"
    assert (await send("DELETE", made.headers["location"])).status == 204
    assert (await send("GET", made.headers["location"])).status == 404


async def test_a_taken_identity_conflicts_if_the_document_says_so():
    conflict = ImportedReply(
        status="409", kind="json", media_type="application/json", schema={"$ref": "#/$defs/Error"}
    )
    inputs = NAMED | {"id": {"type": "integer"}}
    create = operation("create", "POST", "/pets", answers(PET), conflict, body=body_of(inputs))
    read = operation("read", "GET", "/pets/{petId}", answers(PET))
    send = sender(opened(connector(create, read)))
    assert (await send("POST", "/pets", {"id": 5} | TOM)).status == 200
    assert (await send("POST", "/pets", {"id": 5} | TOM)).status == 409


async def test_a_restart_forgets_nothing(tmp_path):
    first = opened(connector(*OPERATIONS), tmp_path / "pets.db")
    pet = await created(sender(first))
    initial = json.loads((await sender(first)("GET", "/pets")).body)[0]
    await sender(first)("DELETE", f"/pets/{initial['id']}")
    first.close()
    again = sender(opened(connector(*OPERATIONS), tmp_path / "pets.db"))
    pets = json.loads((await again("GET", "/pets")).body)
    assert pet in pets
    assert initial not in pets
    assert (await created(again))["id"] != pet["id"]


async def test_reading_creates_no_file(tmp_path):
    send = sender(opened(connector(*OPERATIONS), tmp_path / "pets.db"))
    assert (await send("GET", "/pets")).status == 200
    assert not (tmp_path / "pets.db").exists()
