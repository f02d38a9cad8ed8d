"""The forty hard cases of OpenAPI: from a document to the bytes that a vendor receives.

Each file of `cases/` has a document, calls of its tools, and what the vendor must receive for them,
or the name of the refusal. All of it goes the way of a user: an import, the generated record, a
gateway in a process of its own, and a socket.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forty.checks import check_case
from tests.forty.imports import ImportSite, cases, import_site

CASES = cases(Path(__file__).parent / "cases")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImportSite]:
    with import_site(tmp_path_factory.mktemp("forty"), CASES) as found:
        yield found


def test_there_are_forty() -> None:
    assert [int(name[:2]) for name in CASES] == [*range(1, 41)]


@pytest.mark.parametrize("name", CASES)
def test_a_case(site: ImportSite, name: str) -> None:
    check_case(site, name, CASES[name])
