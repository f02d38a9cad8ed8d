"""The JSON value of a handler's result."""

import gc
import weakref
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from gateway.contract.fields.conversion import as_integer, as_number, text
from gateway.contract.handler import dump, take
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator


class Mail(BaseModel):
    model_config = ConfigDict(extra="allow")

    sender: str
    from_: str | None = Field(default=None, alias="from")
    count: int = 0


class Box(BaseModel):
    model_config = ConfigDict(extra="allow")

    first: Mail
    class_: Mail | None = Field(default=None, alias="class")
    more: list[Mail] = []
    by_name: dict[str, Mail] = {}


MAILS = [
    {"sender": "a"},
    {"sender": "a", "from_": "an additional member"},
    {"sender": "a", "from_": "an additional member", "from": "b"},
    {"sender": "a", "from": None, "count": 0},
    {"sender": "a", "from": "b", "x": {"from_": 1}},
]


@pytest.mark.parametrize("mail", MAILS)
def test_only_what_was_set_is_in_it(mail: dict[str, Any]) -> None:
    assert dump(Mail.model_validate(mail)) == mail
    box = {"first": mail, "more": [mail, mail], "by_name": {"n": mail}, "class_": [1]}
    assert dump(Box.model_validate(box)) == box
    box = {"first": mail, "class": mail}
    assert dump(Box.model_validate(box)) == box
    assert dump(RootModel[list[Mail]].model_validate([mail])) == [mail]


class Counted(BaseModel):
    whole: int
    some: list[int] = []
    any_: int | float = Field(default=0, alias="any")


COUNTED = {
    "type": "object",
    "properties": {
        "whole": {"type": "integer"},
        "some": {"type": "array", "items": {"type": "integer"}},
        "any": {"type": "number"},
    },
}


@pytest.mark.parametrize(
    "number", ["1e30", "1E22", "-1e30", "9223372036854775808.0", "-9223372036854775808.0", "2e0"]
)
def test_a_whole_number_is_one_from_the_argument_to_the_result(number: str) -> None:
    arguments = jsontext.decode(f'{{"whole":{number},"some":[{number}],"any":{number}}}'.encode())
    assert Validator(COUNTED).admits(arguments)
    taken = take(Counted, arguments)
    result = dump(taken)
    assert result == arguments
    assert Validator(COUNTED).admits(result)
    assert jsontext.decode(jsontext.encode(result)) == result
    assert int(text(arguments["whole"])) == as_integer(arguments["whole"]) == taken.whole
    assert as_number(number) == taken.whole


def test_no_model_of_replaced_contracts_is_kept() -> None:
    model = create_model("Old", later=(str | None, Field(default=None, alias="late")))
    kept = weakref.ref(model)
    assert dump(model(late="x")) == {"late": "x"}
    del model
    gc.collect()
    assert kept() is None
