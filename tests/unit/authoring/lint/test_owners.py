"""A table shows an entity as it is, and no message writes what agents own."""

import shutil
from pathlib import Path

import pytest

from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from tests.unit.authoring.lint.planting import Verdicts

SCHEMAS = Path(__file__).parents[4] / "schemas"
QUOTES = "upstreams/supabase/tables/quotes.json"
QUOTE = "entities/quotes.json"
REQUEST = "entities/requests.json"
WEBHOOK = "webhooks/avinode/webhook.yaml"
EDITS = {
    "of no entity": (QUOTES, '"entity": "quotes"', '"entity": "quote"', "upstream/table-shape"),
    "of no column": (QUOTES, '"avinode_rfp_id"', '"avinode_rfq_id"', "upstream/table-shape"),
    "of another type": (QUOTES, '"price_usd"', '"notes"', "upstream/table-shape"),
    "of a column that may be empty": (
        QUOTES,
        '"quote_id": "avinode_quote_id"',
        '"quote_id": "aircraft_id"',
        "upstream/table-shape",
    ),
    "of agents, set by a message": (
        WEBHOOK,
        "notes: {value: $request.body#/notes, omitIfAbsent: true}",
        "iso_request_id: {value: $request.body#/notes, omitIfAbsent: true}",
        "binding/unknown-member",
    ),
    "that is computed, set by a message": (
        WEBHOOK,
        "notes: {value: $request.body#/notes, omitIfAbsent: true}",
        "price_usd: {value: $request.body#/price/total, omitIfAbsent: true}",
        "binding/unknown-member",
    ),
    "of agents, with a default": (
        QUOTE,
        '"defaults": { "currency"',
        '"defaults": { "iso_request_id": { "beside": "price", "value": "x" }, "currency"',
        "entity/two-owners",
    ),
    "that is computed, with a default": (
        QUOTE,
        '"defaults": { "currency"',
        '"defaults": { "price_usd": { "beside": "price", "value": 1 }, "currency"',
        "entity/two-owners",
    ),
    "that a state carries, with a default": (
        QUOTE,
        '"defaults": { "currency"',
        '"defaults": { "rejection_reason": { "beside": "price", "value": "x" }, "currency"',
        "entity/two-owners",
    ),
    "of agents, carried by a state": (
        QUOTE,
        '"carries": ["rejection_reason"]',
        '"carries": ["rejection_reason", "iso_request_id"]',
        "entity/two-owners",
    ),
    "of the key, that holds states": (
        QUOTE,
        '"column": "status"',
        '"column": "avinode_quote_id"',
        "entity/two-owners",
    ),
    "that the gateway keeps for itself": (
        QUOTE,
        '"notes": {',
        '"column_times": {',
        "entity/column",
    ),
    "of an entity, without a type": (
        QUOTE,
        '"type": ["string", "null"],\n      "enum"',
        '"enum"',
        "entity/column",
    ),
    "of an entity, that refers to nothing": (
        QUOTE,
        '"description": "Status of the quote.",',
        '"$ref": "../common/nothing.json",',
        "ref/dangling",
    ),
    "of an entity, with a pattern that is none": (
        QUOTE,
        '"pattern": "^[A-Z]{3}$"',
        '"pattern": "^[A-Z{3}$"',
        "schema/pattern-invalid",
    ),
    "that a state carries and its log does not admit": (
        QUOTE,
        '"carries": ["rejection_reason"]',
        '"carries": ["rejection_reason", "notes"]',
        "entity/states",
    ),
    "that logs states, of another length": (
        QUOTE,
        '"maxItems": 100,\n      "items": { "$ref": "../common/states',
        '"maxItems": 99,\n      "items": { "$ref": "../common/states',
        "entity/states",
    ),
    "of a tool that is none": (
        REQUEST,
        '"avinode.create_rfp": {',
        '"avinode.create_rfq": {',
        "entity/calls",
    ),
    "of a call, without its key": (
        REQUEST,
        '"avinode_rfp_id": "/result/rfp_id",',
        "",
        "entity/calls",
    ),
    "of a call, from nowhere": (
        REQUEST,
        '"/result/deadline"',
        '"/result/dead_line"',
        "entity/calls",
    ),
    "of a call, that the gateway keeps": (
        REQUEST,
        '"passengers": "/arguments',
        '"state_log": "/arguments',
        "entity/calls",
    ),
    "that is inherited from no kind": (
        QUOTE,
        '"from": "requests"',
        '"from": "rfqs"',
        "entity/inherits",
    ),
    "that is inherited by no column": (
        QUOTE,
        '"by": "request_id"',
        '"by": "rfq_id"',
        "entity/inherits",
    ),
    "that is inherited and not of agents": (
        QUOTE,
        '"inherits": { "iso_request_id"',
        '"inherits": { "notes"',
        "entity/inherits",
    ),
    "of a table, with a type that is none": (QUOTES, '"string"', '"text"', "schema/invalid"),
    "of a table, that refers to nothing": (
        QUOTES,
        '"type": "string"',
        '"$ref": "nothing.json"',
        "ref/dangling",
    ),
}


PARTS = ("common", "entities", "upstreams/supabase", "tools/avinode", "upstreams/avinode")
PARTS_OF_MESSAGES = (*PARTS, "webhooks", "events")


def part(tmp_path: Path, file: str) -> Path:
    """The contracts of the repository, without what mistakes in `file` have nothing to do with."""
    folder = tmp_path / "schemas"
    for name in PARTS_OF_MESSAGES if file == WEBHOOK else PARTS:
        shutil.copytree(SCHEMAS / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def verdicts() -> Verdicts:
    return Verdicts()


def found(schemas: Path, verdicts: Verdicts) -> set[tuple[str, str]]:
    return {(each.rule, each.path) for each in lint(read_tree(schemas), verdicts)}


def rewrite(schemas: Path, file: str, old: str, new: str) -> None:
    text = (schemas / file).read_text("utf-8")
    assert old in text
    (schemas / file).write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize("where", [QUOTE, WEBHOOK])
def test_the_contracts_as_they_are_have_no_such_mistake(
    tmp_path: Path, verdicts: Verdicts, where: str
) -> None:
    mistakes = {(rule, file) for file, _, _, rule in EDITS.values()}
    assert found(part(tmp_path, where), verdicts) & mistakes == set()


@pytest.mark.parametrize("case", EDITS)
def test_a_column(tmp_path: Path, verdicts: Verdicts, case: str) -> None:
    file, old, new, rule = EDITS[case]
    schemas = part(tmp_path, file)
    rewrite(schemas, file, old, new)
    assert (rule, file) in found(schemas, verdicts)


def test_a_column_that_a_state_carries_is_a_text(tmp_path: Path, verdicts: Verdicts) -> None:
    """The log holds what the message says, and the database something else for a moment."""
    schemas = part(tmp_path, QUOTE)
    carried = '"departure_at": {"type": ["string", "null"], "format": "date-time"}, "booking_id": {'
    rewrite(schemas, "entities/requests.json", '["booking_id"]', '["booking_id", "departure_at"]')
    rewrite(schemas, "common/states.json", '"booking_id": {', carried)
    findings = lint(read_tree(schemas), verdicts)
    states = [each for each in findings if each.rule == "entity/states"]
    assert [(each.pointer, "plain text" in each.message) for each in states] == [
        ("/x-entity/states/carries/1", True)
    ]
