"""The key file of a service account: what it needs, and what a message about it may say."""

import json

import pytest

from gateway.contract.credentials import NotAKeyFile, read_key_file
from tests.unit.tables import each_of

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
