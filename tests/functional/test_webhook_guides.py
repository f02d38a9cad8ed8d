"""The guides to webhooks and the quotes of the tour, run as they are printed."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.pasted import URL, block, paste, provide_command
from tests.gateway_process import REPOSITORY, RunningGateway, run_gateway, running_gateway

GUIDES = REPOSITORY / "docs" / "how-to"


def blocks(guide: str, language: str = "sh") -> list[str]:
    text = (GUIDES / guide).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """Its state is in the folder `data` of the one in which the commands run."""
    folder = tmp_path_factory.mktemp("guides")
    provide_command(folder)
    with running_gateway(folder / "data") as found:
        yield found


def test_messages_signed_by_hand_are_stored_and_known_again(gateway: RunningGateway) -> None:
    folder = gateway.data.parent
    *signed, pointer = blocks("receive-webhooks.md")
    for recipe in (*signed, pointer):
        assert '"outcome":"stored"' in paste(recipe.replace(URL, gateway.url), folder)
    for recipe in signed:
        assert '"outcome":"duplicate"' in paste(recipe.replace(URL, gateway.url), folder)


def test_quotes_arrive_and_become_rows_as_the_tour_says(gateway: RunningGateway) -> None:
    tour = block("events tail").replace(URL, gateway.url)
    printed = paste(tour, gateway.data.parent, GATEWAY_KEY=gateway.key)

    assert "gateway.quote.received.v1" in printed
    assert '"status":"received"' in printed


def test_a_provider_is_added_by_contracts_alone(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "schemas", tmp_path / "schemas")
    for text in blocks("add-a-webhook-provider.md"):
        paste(text, tmp_path)
    (lines,) = blocks("add-a-webhook-provider.md", "yaml")
    tag, path = lines.removeprefix("tags:\n").split("paths:\n")
    index = tmp_path / "schemas" / "openapi.yaml"
    listed = index.read_text("utf-8").replace("\ntags:\n", f"\ntags:\n{tag}")
    index.write_text(listed.replace("\npaths:\n", f"\npaths:\n{path}"), "utf-8")

    assert "0 errors" in run_gateway(tmp_path, "lint", environment={"GATEWAY_SCHEMAS": ""})
