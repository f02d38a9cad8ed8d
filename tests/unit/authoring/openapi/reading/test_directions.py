"""Members that inputs and outputs do not have."""

import pytest

from gateway.authoring.openapi.reading.source import PartRefused
from gateway.contract.values.schema import Validator

REF = "#/components/schemas/"
PET = {
    "type": "object",
    "required": ["id", "name", "secret"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "secret": {"type": "string", "writeOnly": True},
    },
    "additionalProperties": False,
}


def test_read_only_members_leave_inputs_and_write_only_members_leave_outputs(lowering, lowered):
    made = lowering(Pet=PET)
    input_schema = lowered(made, "Pet", "input")["$defs"]["PetInput"]
    output_schema = lowered(made, "Pet", "output")["$defs"]["PetOutput"]
    assert (input_schema["required"], [*input_schema["properties"]]) == (
        ["name", "secret"],
        ["name", "secret"],
    )
    assert (output_schema["required"], [*output_schema["properties"]]) == (
        ["id", "name"],
        ["id", "name"],
    )


def test_a_schema_that_is_the_same_in_both_directions_has_one_definition(lowering, lowered):
    made = lowering(Tag={"type": "string"}, Pet=PET)
    assert lowered(made, "Tag", "input") == lowered(made, "Tag", "output")
    assert made.definitions.keys() == {"Tag"}


def test_only_the_direction_that_differs_has_a_name_of_its_own(lowering, lowered):
    pet = {"properties": {"id": {"readOnly": True}}}
    made = lowering(Pet=pet, Owner={"properties": {"pet": {"$ref": f"{REF}Pet"}}})
    assert lowered(made, "Owner", "output")["$ref"] == "#/$defs/Owner"
    assert lowered(made, "Owner", "input")["$ref"] == "#/$defs/OwnerInput"
    assert made.definitions.keys() == {"Owner", "Pet", "OwnerInput", "PetInput"}


def test_a_name_that_is_taken_is_not_used_twice(lowering, lowered):
    pet = {"type": "object", "properties": {"id": {"readOnly": True}}}
    made = lowering(Pet=pet, PetInput={"type": "string"})
    name = lowered(made, "Pet", "input")["$ref"].removeprefix("#/$defs/")
    assert name.startswith("PetInput_")
    assert lowered(made, "PetInput", "input")["$defs"]["PetInput"] == {"type": "string"}


def test_a_flag_behind_a_reference_counts(lowering, lowered):
    made = lowering(
        Id={"type": "integer", "readOnly": True},
        Pet={"required": ["id"], "properties": {"id": {"$ref": f"{REF}Id"}}},
    )
    assert lowered(made, "Pet", "input")["$defs"]["PetInput"] == {"required": [], "properties": {}}


@pytest.mark.parametrize(
    "schemas",
    [
        {
            "Base": {"properties": {"id": {"readOnly": True}}},
            "Pet": {"allOf": [{"$ref": f"{REF}Base"}, {"required": ["id"]}]},
        },
        {
            "Base": {"properties": {"id": {"readOnly": True}}},
            "Pet": {"required": ["id"], "allOf": [{"$ref": f"{REF}Base"}]},
        },
        {
            "Base": {"required": ["id"]},
            "Pet": {"allOf": [{"$ref": f"{REF}Base"}, {"properties": {"id": {"readOnly": True}}}]},
        },
        {
            "Base": {"required": ["id"]},
            "Pet": {"$ref": f"{REF}Base", "properties": {"id": {"readOnly": True}}},
        },
        {
            "Base": {"required": ["id"], "properties": {"id": {"readOnly": True}}},
            "Pet": {"anyOf": [{"$ref": f"{REF}Base"}, {"type": "null"}]},
        },
        {
            "Base": {"properties": {"id": {"readOnly": True}}, "anyOf": [{"required": ["id"]}]},
            "Pet": {"$ref": f"{REF}Base"},
        },
        {
            "Root": {"required": ["id"]},
            "Base": {"allOf": [{"$ref": f"{REF}Root"}]},
            "Pet": {"allOf": [{"$ref": f"{REF}Base"}, {"properties": {"id": {"readOnly": True}}}]},
        },
        {
            "Root": {"oneOf": [{"required": ["id"]}, {"required": ["id", "name"]}]},
            "Base": {"$ref": f"{REF}Root"},
            "Pet": {"allOf": [{"$ref": f"{REF}Base"}, {"properties": {"id": {"readOnly": True}}}]},
        },
        {
            "Base": {"properties": {"id": {"readOnly": True}}},
            "Pet": {
                "required": ["id"],
                "oneOf": [
                    {"allOf": [{"$ref": f"{REF}Base"}], "required": ["cat"]},
                    {"allOf": [{"$ref": f"{REF}Base"}], "not": {"required": ["cat"]}},
                ],
            },
        },
        {
            "Id": {"type": "integer", "readOnly": True},
            "Pet": {
                "required": ["id"],
                "properties": {
                    "id": {"anyOf": [{"$ref": f"{REF}Id"}, {"const": "x", "readOnly": True}]}
                },
            },
        },
    ],
    ids=[
        "sibling",
        "around",
        "base",
        "reference",
        "union",
        "branch",
        "root",
        "branches of the root",
        "every branch",
        "every branch of the member",
    ],
)
def test_a_hidden_member_is_not_required_wherever_it_is_declared(lowering, lowered, schemas):
    made = lowering(**schemas)
    assert Validator(lowered(made, "Pet", "input")).admits({})
    assert Validator(lowered(made, "Pet", "output")).admits({"id": 1})
    assert not Validator(lowered(made, "Pet", "output")).admits({})


def test_a_member_that_one_branch_does_not_flag_stays_required(lowering, lowered):
    branches = [{"properties": {"id": {"readOnly": True}}}, {"properties": {"id": {}}}]
    made = lowering(Pet={"required": ["id"], "anyOf": branches})
    assert not Validator(lowered(made, "Pet", "input")).admits({})


def test_a_base_with_its_subclasses_as_branches_hides_what_each_flags(lowering, lowered):
    subclass = {"allOf": [{"$ref": f"{REF}Pet"}, {"properties": {"id": {"readOnly": True}}}]}
    branches = [{"$ref": f"{REF}Cat"}, {"$ref": f"{REF}Dog"}]
    made = lowering(Pet={"required": ["id"], "anyOf": branches}, Cat=subclass, Dog=subclass)
    assert Validator(lowered(made, "Pet", "input")).admits({})
    assert Validator(lowered(made, "Cat", "input")).admits({})
    assert not Validator(lowered(made, "Pet", "output")).admits({})


def test_a_base_that_others_use_keeps_what_it_requires(lowering, lowered):
    made = lowering(
        Base={"required": ["id"]},
        Pet={"allOf": [{"$ref": f"{REF}Base"}, {"properties": {"id": {"readOnly": True}}}]},
        Tag={"allOf": [{"$ref": f"{REF}Base"}]},
    )
    assert Validator(lowered(made, "Pet", "input")).admits({})
    assert not Validator(lowered(made, "Tag", "input")).admits({})


def test_a_long_chain_of_bases_without_a_hidden_member_is_refused(lowering, lowered):
    bases = {f"B{n}": {"$ref": f"{REF}B{n + 1}", "required": ["id"]} for n in range(100)}
    pet = {"$ref": f"{REF}B0", "properties": {"id": {"readOnly": True}}}
    made = lowering(Pet=pet, **bases, B100={})
    with pytest.raises(PartRefused) as caught:
        lowered(made, "Pet", "input")
    assert caught.value.finding.rule == "schema/too-deep"


def test_a_member_behind_a_cycle_is_hidden(lowering, lowered):
    node = {
        "required": ["id"],
        "properties": {"id": {"readOnly": True}, "next": {"$ref": f"{REF}Node"}},
    }
    validator = Validator(lowered(lowering(Node=node), "Node", "input"))
    assert validator.admits({"next": {"next": {}}})


def test_a_negated_requirement_is_not_changed(lowering, lowered):
    pet = {"properties": {"id": {"readOnly": True}}, "not": {"required": ["id"]}}
    validator = Validator(lowered(lowering(Pet=pet), "Pet", "input"))
    assert validator.admits({})


def test_what_depends_on_a_hidden_member_is_not_required(lowering, lowered):
    pet = {
        "properties": {"id": {"readOnly": True}, "a": {}},
        "dependentRequired": {"a": ["id", "b"], "id": ["a"]},
    }
    found = lowered(lowering(Pet=pet), "Pet", "input")["$defs"]["PetInput"]
    assert found["dependentRequired"] == {"a": ["b"]}
