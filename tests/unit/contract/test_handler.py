"""What connectors and their results are held to: the JSON value of a handler, links, key files."""

import gc
import json
import weakref
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from gateway.contract.credentials import NotAKeyFile, read_key_file
from gateway.contract.fields.conversion import as_integer, as_number, text
from gateway.contract.handler import dump, take
from gateway.contract.outbound import is_link_within
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator
from tests.unit.tables import each_of


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


@pytest.mark.parametrize(
    "link", ["https://a.test", "https://A.Test/x?y#z", "https://b.c.a.test:443/"]
)
def test_a_link_may_lead_to_a_domain_and_below_it(link):
    assert is_link_within(link, "a.test")


@each_of(
    "link",
    [
        "",
        "a.test",
        "//a.test/",
        "http://a.test/",
        "https://ba.test/",
        "https://a.test./",
        "https://.a.test/",
        "https://a.test:444/",
        "https://a.test:x/",
        "https://@a.test/",
        "https://user@a.test/",
        "https://[::1/a.test",
        "https://evil.test\\.a.test/",
        "https://evil.test%2f.a.test/",
        "https://evil.test;.a.test/",
        "https://a.test/\n",
        "https://a.test/ x",
        "https://\u0430.a.test/",
    ],
)
def test_no_other_link_may(link):
    assert not is_link_within(link, "a.test")


FILE = {"client_email": "a@b.example", "private_key": "secret", "token_uri": "https://b.example"}


def test_what_a_key_file_holds_beside_is_not_looked_at() -> None:
    found = read_key_file(json.dumps({**FILE, "private_key_id": "k-1", "type": "service_account"}))
    assert (found.client_email, found.private_key_id) == ("a@b.example", "k-1")
    assert "secret" not in repr(found)


@each_of("name", FILE)
@each_of("value", ["", None, 7])
def test_each_member_that_is_needed_is_named_and_no_value_reported(name, value) -> None:
    with pytest.raises(NotAKeyFile) as refused:
        read_key_file(json.dumps({**FILE, name: value}))
    assert str(refused.value).endswith("it needs client_email, private_key, token_uri")


@pytest.mark.parametrize("text", ["", "{", "secret", "\ud800"])
def test_what_is_no_json_is_said_to_be_none(text) -> None:
    with pytest.raises(NotAKeyFile, match="is not JSON"):
        read_key_file(text)
