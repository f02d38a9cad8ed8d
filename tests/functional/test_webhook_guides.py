"""The guides to webhooks and the quotes of the tour, run as they are printed."""

import re
import shutil
from pathlib import Path

from tests.functional.test_readme import block, paste
from tests.gateway_process import GATEWAY, REPOSITORY, running_gateway

GUIDES = REPOSITORY / "docs" / "how-to"
HERE = "http://127.0.0.1:8700"


def blocks(guide: str, language: str = "sh") -> list[str]:
    text = (GUIDES / guide).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_messages_signed_by_hand_are_stored_and_known_again(tmp_path: Path) -> None:
    *signed, pointer = blocks("receive-webhooks.md")
    with running_gateway(tmp_path / "data") as gateway:
        for recipe in (*signed, pointer):
            assert '"outcome":"stored"' in paste(recipe.replace(HERE, gateway.url), tmp_path)
        for recipe in signed:
            assert '"outcome":"duplicate"' in paste(recipe.replace(HERE, gateway.url), tmp_path)


def test_quotes_arrive_and_become_rows_as_the_tour_says(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "gateway").symlink_to(GATEWAY)
    with running_gateway(tmp_path / "data") as gateway:
        tour = block("events tail").replace(HERE, gateway.url)
        printed = paste(tour, tmp_path, GATEWAY_KEY=gateway.key)

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

    assert "0 errors" in paste(f"{GATEWAY} lint", tmp_path)
