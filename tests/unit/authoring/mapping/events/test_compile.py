"""What compiled events make of payloads, of which each test changes one thing."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from gateway.authoring.codegen.lowering import lower
from gateway.authoring.codegen.render.bindings import declared_by, event_basis
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.mapping.event_maps import basis_of, compile_event, prove
from gateway.authoring.mapping.fields import Coverage
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import Unmappable, entity_id
from gateway.contract.webhook import WebhookEvent
from gateway.errors import ContractError

FACTS = CallFacts(id="w-1", now="2026-11-20T10:00:00Z", settings={"tongue": "English"})
LENT = {
    "kind": "book_lent",
    "message": "m-1",
    "at": "2026-11-20T14:42:01Z",
    "loan": "L-1",
    "isbn": "9780142437247",
    "card": {"number": "C-1", "name": "Ada"},
}


def compiled(schemas: Path, event_type: str) -> WebhookEvent:
    """The event of the webhook of `schemas`, as its generated module would hold it."""
    contracts = lower(read_tree(schemas))
    (webhook,) = contracts.webhooks
    payloads = {payload.type: payload.schema for payload in webhook.payloads}
    name = f"{webhook.provider}.{event_type}"
    text = compile_event(basis_of(name, webhook.x_webhook, payloads, declared_by(contracts)))
    module: dict[str, Any] = {}
    exec(text, module)  # noqa: S102 - what generated modules are there for
    event: WebhookEvent = module["EVENT"]
    return event


def rewrite(schemas: Path, old: str, new: str) -> None:
    file = schemas / "webhooks/desk/webhook.yaml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_rows_hold_what_the_payload_says(schemas: Path) -> None:
    borrower, loan = compiled(schemas, "book_lent").effects

    assert (borrower.entity, borrower.mode) == ("borrowers", "upsert")
    assert borrower.row(LENT, FACTS) == {"card": "C-1", "name": "Ada"}
    assert (loan.entity, loan.mode) == ("loans", "create")
    assert loan.row(LENT, FACTS) == {
        "loan_number": "L-1",
        "isbn": "9780142437247",
        "borrower_id": entity_id("borrowers", {"card": "C-1"}),
        "lent_on": "2026-11-20",
    }


@pytest.mark.parametrize("card", [{"number": "C-1"}, {"number": "C-1", "name": None}])
def test_null_and_nothing_say_the_same_and_set_no_column(
    schemas: Path, card: dict[str, Any]
) -> None:
    borrower, _ = compiled(schemas, "book_lent").effects

    assert borrower.row({**LENT, "card": card}, FACTS) == {"card": "C-1"}


def test_without_what_when_names_nothing_is_written(schemas: Path) -> None:
    event = compiled(schemas, "book_lent")
    payload = {name: value for name, value in LENT.items() if name != "isbn"}

    assert event.effects[1].row(payload, FACTS) is None
    assert event.emission is not None
    assert event.emission.data(payload, FACTS) == {
        "loan_id": entity_id("loans", {"loan_number": "L-1"})
    }


@pytest.mark.parametrize(
    ("said", "arguments"),
    [({}, None), ({"librarian": ""}, None), ({"librarian": "Grace"}, {"name": "Grace"})],
)
def test_an_empty_setting_says_as_little_as_none(
    schemas: Path, said: dict[str, str], arguments: dict[str, str] | None
) -> None:
    (notification,) = compiled(schemas, "book_lent").notifications
    facts = CallFacts(id="w-1", now=FACTS.now, settings={"tongue": "English", **said})

    assert notification.operation == "hello.greet"
    assert notification.arguments(LENT, facts) == arguments


TENANT = "eventType: {pointer: /kind}\n        tenant: {header: X-Branch}"


def test_a_message_says_whose_it_is(schemas: Path) -> None:
    rewrite(schemas, "eventType: {pointer: /kind}", TENANT)
    rewrite(schemas, "isbn: {value: $request.body#/isbn,", "isbn: {value: $call.tenant,")
    rewrite(schemas, "entity: borrowers\n", "entity: borrowers\n            when: $call.tenant\n")
    event = compiled(schemas, "book_lent")
    of_branch = replace(FACTS, tenant="north")

    assert event.emission is not None
    assert event.emission.data(LENT, of_branch)["isbn"] == "north"
    assert event.effects[0].row(LENT, of_branch) is not None
    # The event is derived too, from messages of a profile without tenants.
    assert "isbn" not in event.emission.data(LENT, FACTS)
    assert event.effects[0].row(LENT, FACTS) is None


def test_where_every_message_has_a_tenant_it_is_not_absent(schemas: Path) -> None:
    rewrite(
        schemas,
        "eventType: {pointer: /type}",
        "eventType: {pointer: /type}\n        tenant: {path: true}",
    )
    rewrite(schemas, "query: {q: $request.body#/shelf}", "query: {q: $call.tenant}")
    fetch = compiled(schemas, "shelf.changed").fetch

    assert fetch is not None
    assert fetch.query({"shelf": "A"}, replace(FACTS, tenant="north")) == {"q": "north"}


def test_a_fetch_sends_texts_by_name(schemas: Path) -> None:
    fetch = compiled(schemas, "shelf.changed").fetch

    assert fetch is not None
    assert (fetch.upstream, fetch.operation) == ("books", "searchBooks")
    assert fetch.path({"shelf": "A"}, FACTS) == {}
    assert fetch.query({"shelf": "A"}, FACTS) == {"q": "A"}


def test_a_number_that_is_fetched_by_travels_as_text(schemas: Path) -> None:
    rewrite(
        schemas, "query: {q: $request.body#/shelf}", "query: {q: {const: x}, limit: {const: 5}}"
    )
    fetch = compiled(schemas, "shelf.changed").fetch

    assert fetch is not None
    assert fetch.query({"shelf": "A"}, FACTS) == {"q": "x", "limit": "5"}


def test_each_item_of_what_was_fetched_is_a_message(schemas: Path) -> None:
    (derivation,) = compiled(schemas, "shelf.changed").derives
    found = {"items": [{"isbn": "9780142437247", "title": "Moby-Dick"}]}

    assert (derivation.event, derivation.message_id) == ("book_lent", "/message")
    assert derivation.payloads(found, FACTS) == [
        {
            "kind": "book_lent",
            "message": "9780142437247",
            "at": FACTS.now,
            "loan": "9780142437247",
            "isbn": "9780142437247",
            "card": {"number": "English"},
        }
    ]
    assert derivation.payloads({"items": []}, FACTS) == []


def test_without_each_the_whole_reply_is_one_message(schemas: Path) -> None:
    rewrite(schemas, "            each: $request.body#/items\n", "")
    rewrite(schemas, '"@/isbn"', "$request.body#/items/0/isbn")
    rewrite(schemas, "message: $request.body#/items/0/isbn", "message: {const: m}")
    rewrite(schemas, "loan: $request.body#/items/0/isbn", "loan: {const: L-2}")
    rewrite(
        schemas,
        "isbn: $request.body#/items/0/isbn",
        "isbn: {value: $request.body#/items/0/isbn, omitIfAbsent: true}",
    )
    (derivation,) = compiled(schemas, "shelf.changed").derives

    (payload,) = derivation.payloads({"items": []}, FACTS)
    assert payload["loan"] == "L-2"
    assert "isbn" not in payload


def test_what_has_no_place_is_named_by_its_pointer(schemas: Path) -> None:
    _, loan = compiled(schemas, "book_lent").effects

    with pytest.raises(Unmappable, match=r"^/at: "):
        loan.row({**LENT, "at": "yesterday"}, FACTS)


def test_an_event_without_meaning_is_not_compiled(schemas: Path) -> None:
    rewrite(schemas, "subject: $request.body#/loan", "subject: $request.body#/lone")

    with pytest.raises(ContractError, match=r"^desk\.book_lent/emits/subject: .*cannot be read"):
        compiled(schemas, "book_lent")


def test_the_minimal_webhook_is_what_its_file_says(schemas: Path) -> None:
    """The records that renderers read repeat the contract, and nothing of theirs is lost."""
    (webhook,) = lower(read_tree(schemas)).webhooks
    written = yaml.safe_load((schemas / "webhooks/desk/webhook.yaml").read_text("utf-8"))

    assert webhook.x_webhook == written["post"]["x-webhook"]
    assert [payload.module for payload in webhook.payloads] == ["book_lent", "shelf_changed"]
    assert meta.validator("x-webhook.schema.json").admits(webhook.x_webhook)


def test_rows_events_and_calls_are_proved_as_results_are(schemas: Path) -> None:
    contracts = lower(read_tree(schemas))
    (webhook,) = contracts.webhooks
    found = [
        proof
        for payload in webhook.payloads
        for proof in prove(event_basis(webhook, payload, contracts))
    ]
    assert "a row of borrowers" in {proof.side for proof in found}
    assert all(proof.verdict is not Coverage.GAP or proof.on_gap for proof in found)
    (name,) = [each for each in found if (each.side, each.field) == ("a row of borrowers", "/name")]
    assert (name.source, name.verdict) == ("$request.body#/card/name", Coverage.PROVED)
