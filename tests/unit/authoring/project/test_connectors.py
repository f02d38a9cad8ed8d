"""The files of a ready connector: its own, and all that these refer to."""

from pathlib import Path, PurePosixPath

import pytest

from gateway.authoring.contracts.sources.tree import read_tree
from gateway.authoring.project.adding import (
    files_of,
    known_connectors,
    ready_connectors,
    sent_files,
)
from gateway.errors import ConfigurationError
from gateway.library import library_folder


@pytest.fixture(scope="module")
def library():
    return read_tree(library_folder() / "schemas")


def files(library, *names):
    return {str(path) for path in files_of(library, names)}


def test_in_a_checkout_the_library_is_the_repository():
    assert library_folder() == Path(__file__).parents[4]


def test_the_upstream_of_another_connector_comes_without_its_tools(library):
    found = files(library, "amadeus")
    assert "upstreams/frankfurter/openapi.yaml" in found
    assert not any(path.startswith("tools/frankfurter/") for path in found)


def test_what_a_webhook_writes_publishes_and_calls_comes_with_it(library):
    found = files(library, "avinode")
    assert {
        "webhooks/avinode/quote_received.payload.json",
        "entities/quotes.json",
        "events/quote.received.v1.yaml",
        "events/quote.received.v1.json",
        "tools/gmail/send_template_email.yaml",
        "tools/gmail/get_email.yaml",
        "upstreams/gmail/openapi.yaml",
    } <= found


def test_rows_that_tables_show_come_with_them(library):
    assert "entities/requests.json" in files(library, "supabase")


def test_a_tool_that_an_entity_declares_is_that_entitys_file(library):
    found = files(library, "entities")
    assert "entities/trips.json" in found
    assert not any(path.startswith("tools/") for path in found)


def test_what_its_resources_send_as_it_is_comes_with_a_connector(library):
    paths = files_of(library, ["avinode"])
    assert PurePosixPath("resources/avinode/request_checklist.yaml") in paths
    assert {str(path) for path in sent_files(library, paths)} == {
        "resources/avinode/files/request_checklist.md"
    }


def test_all_connectors_together_are_everything_that_is_not_of_every_project(library):
    names = [connector.name for connector in ready_connectors(library)]
    written = {str(path) for path, each in library.documents.items() if each.declared is None}
    left = written - files(library, *names)
    of_every_project = {path for path in left if path.startswith("events/")}
    alone = {"common/content.json", "openapi.yaml", "policies/agents.yaml"}
    assert left - of_every_project == alone
    assert {path.split(".")[0] for path in of_every_project} == {
        *("events/contract", "events/endpoint", "events/job", "events/webhook")
    }


def test_an_unknown_name_gets_the_similar_one(library):
    with pytest.raises(ConfigurationError, match="'gmial'; did you mean gmail"):
        known_connectors(library, ["gmial"])
