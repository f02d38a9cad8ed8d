"""What becomes of a request of each form: messages, ids, types, and what cannot be read."""

import json
from hashlib import sha256

import pytest

from gateway.contract.webhook import BodyForm, MessagePart, Profile
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import Received, RequestPlace
from gateway.webhooks.message import MAX_MESSAGES, read_messages, replayable

SCHEME = HmacSignature(header="x-signature")
ID = MessagePart(pointer="/id")
KIND = MessagePart(pointer="/kind")


def profile_of(*, message_id=ID, event_type=KIND, **members):
    return Profile(
        name="signed",
        authentication=SCHEME,
        message_id=message_id,
        event_type=event_type,
        **members,
    )


def read(sent, tenant="", **members):
    text = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    return read_messages(profile_of(**members), Received(fields=[], body=text), tenant)


def digest(body):
    return f"sha256:{sha256(body).hexdigest()}"


@pytest.mark.parametrize(
    ("pointer", "wrap"), [("", list), ("/value/of", lambda m: {"value": {"of": m}})]
)
def test_a_batch_becomes_its_messages_in_order(pointer, wrap):
    messages = [{"id": f"m-{n}", "kind": "made", "n": n} for n in range(3)]
    found = read(wrap(messages), body=BodyForm(batch=pointer))
    assert [each.id for each in found] == ["m-0", "m-1", "m-2"]
    assert [json.loads(each.body) for each in found] == messages
    assert {each.event_type for each in found} == {"made"}
    assert all(not each.refusals for each in found)


@pytest.mark.parametrize("body", [{}, [], "text", [{}] * (MAX_MESSAGES + 1)])
def test_a_body_that_is_no_batch_is_one_message_for_an_operator(body):
    (found,) = read(body, body=BodyForm(batch=""))
    assert not found.is_readable
    assert found.body == json.dumps(body).encode()
    assert f"not a list of 1 to {MAX_MESSAGES} messages" in found.refusals[0].detail


def test_messages_of_a_batch_without_ids_are_known_by_their_bytes():
    first, again, other = read(
        [{"kind": "a"}, {"kind": "a"}, {"kind": "b"}], body=BodyForm(batch=""), message_id=None
    )
    assert first.id == again.id == digest(b'{"kind":"a"}')
    assert other.id != first.id


def test_a_form_is_an_object_of_texts_and_a_repeated_name_a_list():
    (found,) = read(b"kind=made&id=7&to=a&to=b&note=caf%C3%A9+1", body=BodyForm(is_form=True))
    assert found.payload == {"kind": "made", "id": "7", "to": ["a", "b"], "note": "café 1"}
    assert (found.id, found.event_type) == ("7", "made")


def test_a_field_of_a_form_may_have_the_message():
    form = BodyForm(is_form=True, field="payload")
    (found,) = read(b"payload=%7B%22id%22%3A+1%2C+%22kind%22%3A+%22made%22%7D", body=form)
    assert found.payload == {"id": 1, "kind": "made"}
    for body in (b"other=1", b"payload=1&payload=2", b"payload=%7B"):
        (found,) = read(body, body=form)
        assert not found.is_readable


@pytest.mark.parametrize(
    ("place", "value", "stored"),
    [
        ("/id", 7, "7"),
        ("/id", "a", "a"),
        ("/a/b", None, None),
        ("/id", True, None),
        ("/id", 1.5, None),
    ],
)
def test_an_id_is_a_text_or_a_whole_number(place, value, stored):
    body = {"id": value, "kind": "made"}
    (found,) = read(body, message_id=MessagePart(pointer=place))
    assert found.id == (stored or digest(json.dumps(body).encode()))
    assert bool(found.refusals) is (stored is None)


def test_a_provider_of_one_kind_has_its_type_without_a_place():
    (found,) = read({"id": "1"}, event_type=MessagePart(const="changed"))
    assert found.event_type == "changed"


def test_ids_of_two_tenants_are_apart():
    (ours,), (theirs,) = (read({"id": "1", "kind": "a"}, tenant) for tenant in ("a", "b"))
    assert (ours.id, theirs.id) == ("a/1", "b/1")


def test_what_two_tenants_send_is_two_messages_though_it_is_equal():
    (ours,), (theirs,) = (read(b"no JSON", tenant) for tenant in ("a", "b"))
    assert (ours.is_readable, theirs.is_readable) == (False, False)
    assert (ours.id, theirs.id) == (f"a/{digest(b'no JSON')}", f"b/{digest(b'no JSON')}")
    received, profile = Received(fields=[], body=b"{}"), profile_of(message_id=None)
    assert replayable(profile, received, "a") != replayable(profile, received, "b")


def test_equal_bytes_are_two_messages_where_the_contract_says_so():
    received = Received(fields=[], body=b"{}")
    once, twice = profile_of(message_id=None), profile_of(message_id=None, same_bytes="new")
    assert replayable(once, received) == b"{}"
    assert replayable(twice, received) is None
    found = {read(b"{}", message_id=None, same_bytes="new")[0].id for _ in range(2)}
    assert len(found) == 2


def test_an_id_that_the_signature_does_not_cover_protects_nothing():
    """Anybody who has seen one could send it under other ids."""
    scheme = HmacSignature(header="x-signature", content=("$request.body#/kind",))
    profile = Profile(name="signed", authentication=scheme, message_id=ID, event_type=KIND)
    received = Received(fields=[], body=b'{"id": "1", "kind": "made"}')
    assert replayable(profile, received) == b"made"


def test_a_tenant_is_named_by_header_query_body_or_path():
    received = Received(
        fields=[(b"x-shop", b"a")],
        body=b'{"shop": {"id": 4}}',
        url="https://gateway.example/webhooks/shop/b?shop=c",
        path="b",
    )
    places = [{"header": "X-Shop"}, {"path": True}, {"query": "shop"}, {"pointer": "/shop/id"}]
    assert [RequestPlace(**place).text(received) for place in places] == ["a", "b", "c", "4"]
    with pytest.raises(ValueError, match="one place"):
        RequestPlace(header="X-Shop", query="shop")
