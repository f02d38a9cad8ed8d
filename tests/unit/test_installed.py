"""What hints and files of requirements say about the place that the gateway came from."""

import msgspec
import pytest

from gateway import installed
from gateway.installed import Origin, install_command, origin_of, requirement
from tests.gateway_process import REPOSITORY

GIT = {"url": "https://x.example/g", "vcs_info": {"vcs": "git", "commit_id": "0a"}}


@pytest.mark.parametrize(
    ("recorded", "reference", "is_here_only"),
    [
        ({"url": "file:///g", "dir_info": {"editable": True}}, "file:///g", True),
        (
            {"url": "file:///g.whl", "archive_info": {"hashes": {"sha256": "ab"}}},
            "file:///g.whl#sha256=ab",
            True,
        ),
        ({"url": "https://x.example/g.whl", "archive_info": {}}, "https://x.example/g.whl", False),
        (GIT, "git+https://x.example/g@0a", False),
        ({**GIT, "subdirectory": "py"}, "git+https://x.example/g@0a#subdirectory=py", False),
    ],
)
def test_what_pip_recorded_becomes_a_direct_reference(recorded, reference, is_here_only):
    origin = msgspec.convert(recorded, type=Origin)
    assert (origin.reference, origin.is_here_only) == (reference, is_here_only)
    assert requirement("author", origin=origin) == f"contract-gateway[author] @ {reference}"


def test_one_of_an_index_has_its_name_and_its_version():
    assert origin_of("pytest") is None
    assert origin_of("no-such-package") is None
    assert requirement("author", "test", version="1.2.3") == "contract-gateway[author,test]==1.2.3"


def test_a_hint_installs_what_is_installed(monkeypatch):
    monkeypatch.setattr(installed, "origin_of", lambda: Origin(url="file:///src/gateway"))
    assert install_command("redis") == (
        "pip install 'contract-gateway[redis] @ file:///src/gateway'"
    )


def test_no_other_place_writes_such_a_hint():
    files = (REPOSITORY / "gateway").rglob("*.py")
    texts = {path.name: path.read_text("utf-8") for path in files}
    assert {name for name, text in texts.items() if "contract-gateway[" in text} == set()
