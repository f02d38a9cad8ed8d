"""`gateway import --serve`: one command from a document to a gateway, and its questions."""

import os
import pty
import select
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import GATEWAY, clean_environment, run_gateway, running_gateway
from tests.recording import Answer, recording_vendor

DOCUMENT = Path(__file__).parents[1] / "assets" / "documents" / "pets.yaml"
ITS_OWN = {"GATEWAY_SCHEMAS": ""}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "pets.yaml"
    text = DOCUMENT.read_text("utf-8").replace("OTHER", "https://photos.example")
    path.write_text(text.replace("VENDOR", "https://pets.example"), "utf-8")
    return path


def test_a_document_is_served_without_a_project(document: Path, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    served = ("import", str(document), "--serve")
    environment = ITS_OWN | {"TMPDIR": str(drafts)}
    with running_gateway(tmp_path / "data", environment=environment, command=served) as gateway:
        url = f"{gateway.url}/v1/pets/list_pets"
        answer = httpx.post(url, json={"lang": "de"}, headers=gateway.authorization)
        wrong = httpx.post(url, json={"lang": 1}, headers=gateway.authorization)
        assert list(drafts.glob("gateway-import-*/schemas/upstreams/pets/pets.yaml"))
    assert answer.status_code == 200
    assert {"id", "name"} <= set(answer.json()["result"][0])
    assert wrong.status_code == 422
    assert list(drafts.iterdir()) == []


def answer_to(_method: str, _path: str) -> Answer:
    return 200, "application/json", b'{"id": 7, "name": "Ada"}'


def test_a_project_keeps_the_import_and_a_live_upstream_is_called(
    document: Path, tmp_path: Path, new_initial: Callable[[Path], Path]
) -> None:
    site = new_initial(tmp_path / "site")
    with recording_vendor(answer_to) as vendor:
        served = ("import", str(document), "--serve", "--live", "--base-url", f"{vendor.url}/v2")
        plain = ITS_OWN | {"GATEWAY_ALLOW_PLAIN_HTTP": "true", "GATEWAY_PETS_KEY": "k1"}
        with running_gateway(site, environment=plain, command=served) as gateway:
            url = f"{gateway.url}/v1/pets/get_pet"
            answer = httpx.post(url, json={"id": "a/b"}, headers=gateway.authorization)
    assert answer.json() == {"id": 7, "name": "Ada"}
    assert [each.line for each in vendor.received] == ["GET /v2/pets/a%2Fb"]
    assert vendor.received[0].headers["x-key"] == "k1"
    run_gateway(site, "import", "--check", environment=ITS_OWN)
    run_gateway(site, "generate", "--check", environment=ITS_OWN)


TAGGED = """\
openapi: 3.0.3
info: {title: Tagged, version: "1"}
servers: [{url: "https://tagged.example"}]
paths:
  /a: {get: {operationId: listCats, tags: ["cats[1]", "hid\\edden"], responses: {}}}
  /b: {get: {operationId: listDogs, tags: [dogs], responses: {}}}
  /c: {get: {operationId: status, responses: {}}}
"""


class Terminal:
    """A command at a terminal, and the person who answers its questions."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self._own, theirs = pty.openpty()
        clean = clean_environment(ITS_OWN | environment)
        clean.pop("CI", None)
        self._process = subprocess.Popen(
            [str(GATEWAY), *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=clean | environment | {"TERM": "xterm", "COLUMNS": "200"},
            start_new_session=True,
        )
        os.close(theirs)
        self._shown = ""

    def answer(self, question: str, text: str) -> None:
        """Wait for `question`, and type `text`."""
        self.expect(question)
        os.write(self._own, f"{text}\n".encode())

    def expect(self, text: str) -> None:
        """Wait until `text` is shown."""
        while text not in self._shown:
            assert self._reads(), self._shown
        self._shown = self._shown.partition(text)[2]

    def ends(self) -> int:
        """Read until the command ends, and return its exit code."""
        while self._reads():
            pass
        os.close(self._own)
        return self._process.wait(PATIENCE_SECONDS)

    def _reads(self) -> bool:
        if not select.select([self._own], [], [], PATIENCE_SECONDS)[0]:
            self._process.kill()
            return False
        try:
            read = os.read(self._own, 65536).decode("utf-8", "replace")
        except OSError:  # Linux: the other end of the terminal is closed
            return False
        self._shown += read
        return bool(read)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "openapi.yaml").write_text("openapi: 3.1.1\n", "utf-8")
    (tmp_path / "tagged.yaml").write_text(TAGGED, "utf-8")
    return tmp_path


IMPORTED = "schemas/upstreams/tagged/import.yaml"


def test_a_person_chooses_tags_and_sees_the_operations(site: Path) -> None:
    terminal = Terminal(site, "import", "tagged.yaml")
    terminal.answer("Enter for all:", "9, cats[1]")
    terminal.expect("there is no tag '9'")
    terminal.answer("Enter for all:", "hiden")
    terminal.expect("did you mean hid\\x1bdden?")
    terminal.answer("Enter for all:", "1")
    terminal.answer("Import 1 operation? [Y/n]:", "y")
    assert terminal.ends() == 0
    text = (site / IMPORTED).read_text("utf-8")
    assert "cats[[]1]" in text
    assert "dogs" not in text


def test_a_person_who_says_no_gets_no_files(site: Path) -> None:
    terminal = Terminal(site, "import", "tagged.yaml")
    terminal.answer("Enter for all:", "")
    terminal.expect("tagged.status")
    terminal.answer("Import 3 operations? [Y/n]:", "n")
    assert terminal.ends() == 1
    assert not (site / IMPORTED).exists()


@pytest.mark.parametrize(
    ("options", "environment"),
    [(("--tag", "dogs"), {}), ((), {"CI": "true"})],
    ids=["selection", "CI"],
)
def test_nothing_is_asked_of_a_script(
    site: Path, options: tuple[str, ...], environment: dict[str, str]
) -> None:
    terminal = Terminal(site, "import", "tagged.yaml", *options, **environment)
    assert terminal.ends() == 0
    assert (site / IMPORTED).is_file()
