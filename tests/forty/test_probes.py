"""Seventeen probes that FastMCP 4.1.6 `from_openapi` fails, of which each one must pass here.

Each file of `probes/` has a document and calls, as those of `cases/`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.forty.checks import check_case
from tests.forty.imports import ImportSite, cases, connector_of, import_site, names

PROBES = Path(__file__).parent / "probes"
NAMES = names(PROBES)


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    """Each of them, by name."""
    return cases(PROBES)


@pytest.fixture(scope="module")
def site(
    documents: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ImportSite]:
    with import_site(tmp_path_factory.mktemp("probes"), documents) as found:
        yield found


def test_there_are_seventeen() -> None:
    assert [int(name[:2]) for name in NAMES] == [*range(1, 18)]


@pytest.mark.parametrize("name", NAMES)
def test_a_probe(site: ImportSite, documents: dict[str, dict[str, Any]], name: str) -> None:
    check_case(site, name, documents[name])
    listed = {each["name"]: each for each in site.ask("tools/list", {})["tools"]}
    for tool, hints in documents[name].get("annotations", {}).items():
        assert hints.items() <= listed[f"{connector_of(name)}_{tool}"]["annotations"].items()
    for tool, required in documents[name].get("required", {}).items():
        assert listed[f"{connector_of(name)}_{tool}"]["inputSchema"]["required"] == required
