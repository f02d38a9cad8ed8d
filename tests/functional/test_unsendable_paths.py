"""The contract suite on a path parameter of free text: what no address can hold is not sent."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.testing.fixtures import opened
from gateway.testing.gateways import Faces, catalogue_under_test, open_faces
from gateway.testing.suite import verdicts
from tests.gateway_process import run_gateway

PACKAGE = "package_of_places"
TOOL = "store.find_place"


@pytest.fixture(scope="module")
def project(
    new_initial: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A new project with a drafted tool that has `{place}` in its path."""
    root = new_initial(tmp_path_factory.mktemp("places"))
    its_own = {"GATEWAY_SCHEMAS": ""}
    run_gateway(root, "new", "tool", TOOL, "--path", "/places/{place}", environment=its_own)
    generate(root / "schemas", root / PACKAGE, names=PackageNames(package=PACKAGE))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root)
        patch.setenv("GATEWAY_SCHEMAS", str(root / "schemas"))
        patch.setenv("GATEWAY_PACKAGE", PACKAGE)
        catalogue_under_test.cache_clear()
        yield root
    catalogue_under_test.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


@pytest.fixture(scope="module")
def faces(project: Path, loop: asyncio.AbstractEventLoop) -> Iterator[Faces]:
    yield from opened(loop, open_faces(project / "data"))


@pytest.mark.parametrize(
    ("place", "status", "is_sent"),
    [
        (".", 400, False),
        ("..", 400, False),
        ("\x1f", 400, False),
        ("", 422, False),
        ("/", 200, True),
        ("oslo", 200, True),
    ],
)
def test_only_what_leaves_the_gateway_is_counted_as_sent(
    faces: Faces, loop: asyncio.AbstractEventLoop, place: str, status: int, is_sent: bool
) -> None:
    entry, arguments = faces.catalogue.find(TOOL), json.dumps({"place": place}).encode()

    found = loop.run_until_complete(faces.ask_all(entry, arguments))

    assert {each.status for each in found.answers.values()} == {status}
    assert found.sent == [int(is_sent)] * len(found.answers)


def test_the_suite_passes(faces: Faces, loop: asyncio.AbstractEventLoop) -> None:
    verdicts.test_valid_arguments_are_accepted_alike(faces, loop, TOOL)
