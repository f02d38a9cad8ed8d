"""Opening the generated package: what is said of one that is damaged."""

import importlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.authoring.codegen.generate import generate
from gateway.authoring.contracts import meta
from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import ContractError, UnknownOperation

MINIMAL = Path(__file__).parents[1] / "assets" / "contracts" / "minimal"
PACKAGE = "damaged_by_the_catalogue_test"

Damage = Callable[[str, str, str], None]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is generated from the minimal contracts: a package that nothing has damaged."""
    project = tmp_path_factory.mktemp("project")
    shutil.copytree(MINIMAL, project / "schemas")
    meta.install(project / "schemas")
    generate(project / "schemas", project / PACKAGE)
    return project / PACKAGE


@pytest.fixture
def folder(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it, to be damaged."""
    copy = tmp_path / PACKAGE
    shutil.copytree(sound, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield copy
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    importlib.invalidate_caches()


def opened(package: str = PACKAGE) -> Catalogue:
    return open_catalogue(package, HANDLER_PACKAGES)


def refusal(open_package: Callable[[str], object] = opened) -> str:
    with pytest.raises(ContractError) as refused:
        open_package(PACKAGE)
    assert refused.value.detail.endswith("; run `gateway generate`")
    assert "\n" not in refused.value.detail
    return refused.value.detail


def test_the_copy_itself_is_sound(folder: Path) -> None:
    catalogue = opened()

    assert catalogue.entries


def test_one_connector_answers_to_bare_names_alone(folder: Path) -> None:
    catalogue = opened()

    assert catalogue.find_tool("greet", "hello") is catalogue.find_tool("hello_greet")
    for name, connector in [("hello_greet", "hello"), ("greet", None), ("greet", "books")]:
        with pytest.raises(UnknownOperation):
            catalogue.find_tool(name, connector)


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(ContractError, match=r"'no_such_package' cannot be used"):
        opened("no_such_package")


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("tools.json", '{"tools":[]}', "there is no tool for books.add_book"),
        ("tools.json", "{}", "there is no tool for books.add_book"),
        ("tools.json", "{", "truncated"),
        ("tools.json", '{"tools":[{"name":"a"}]}', "missing required field"),
        ("policies.py", "GRANTS = (", "never closed"),
        ("policies.py", "GRANTS = None", "GRANTS does not map"),
        ("policies.py", 'GRANTS = {"administrator": None}', "GRANTS does not map"),
        ("policies.py", "", "GRANTS"),
        ("policies.py", "GRANTS = {}", "VIEWS"),
        ("policies.py", 'GRANTS = {}\nVIEWS = {"a": "full"}', "VIEWS does not map"),
        ("operations/__init__.py", "OPERATIONS = None", "OPERATIONS is not a tuple"),
        ("operations/__init__.py", "OPERATIONS = (1,)", "OPERATIONS is not a tuple"),
        ("operations/books.py", "1 / 0", "division by zero"),
        ("bindings/books/add_book.py", "import nowhere", "No module named 'nowhere'"),
        ("tools/__init__.py", "TOOLS = ()", "there is no tool for books.add_book"),
        ("upstreams/books.json", "not json", "malformed"),
        ("upstreams/books.json", '{"name":"books","title":"A","base_url":null}', "it lacks"),
        ("openapi.json", "not json", "malformed"),
        ("openapi.json", "[]", "Expected `object`"),
        ("webhooks/__init__.py", "WEBHOOKS = None", "WEBHOOKS is not a tuple"),
        ("webhooks/desk/__init__.py", "1 / 0", "division by zero"),
        ("webhooks/desk/book_lent.py", "import nowhere", "No module named 'nowhere'"),
        ("webhooks.json", "{", "truncated"),
        ("webhooks.json", "{}", "there is no payload schema for desk."),
        ("webhooks.json", '{"desk":{"book_lent":{"type":1}}}', "no payload schema"),
        ("events.json", "not json", "malformed"),
        ("events.json", '{"a":{"type":"a"}}', "missing required field"),
        ("entities.json", "[]", "Expected `object`"),
        ("servers.json", '{"gateway":{"title":1}}', "Expected `str`"),
    ],
)
def test_a_damaged_file_is_named(folder: Path, file: str, text: str, why: str) -> None:
    (folder / file).write_text(text, "utf-8")

    message = refusal()

    assert why in message
    assert message.startswith(str(folder))


def test_every_event_of_every_webhook_has_its_gate(folder: Path) -> None:
    catalogue = opened()

    assert set(catalogue.webhooks) == {each.name for each in (MINIMAL / "webhooks").iterdir()}
    assert catalogue.webhooks
    for provider, webhook in catalogue.webhooks.items():
        assert webhook.source.provider == provider
        assert webhook.validators.keys() == {event.type for event in webhook.source.events}
        assert "nothing_of_the_kind" not in webhook.events
        for event in webhook.source.events:
            assert webhook.events[event.type] is event
            assert event.emission is None or event.emission.event in catalogue.events
            assert {effect.entity for effect in event.effects} <= catalogue.entities.keys()
            for notification in event.notifications:
                assert catalogue.find(notification.operation)


def test_the_file_that_fails_is_named_and_not_the_one_that_imports_it(folder: Path) -> None:
    damaged = folder / "bindings" / "books" / "add_book.py"
    damaged.write_text("1 / 0", "utf-8")

    assert refusal().startswith(f"{damaged} ")


@pytest.mark.parametrize(
    "file",
    [
        "tools.json",
        "openapi.json",
        "upstreams/books.json",
        "webhooks.json",
        "events.json",
        "entities.json",
        "servers.json",
    ],
)
def test_a_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()

    assert refusal().startswith(f"{folder / file} cannot be used (")


@pytest.mark.parametrize("member", ["replies", "inputSchema"])
def test_a_schema_that_cannot_be_compiled_is_found_in_its_file(folder: Path, member: str) -> None:
    file = folder / ("upstreams/books.json" if member == "replies" else "tools.json")
    text = file.read_text("utf-8")
    damaged = re.sub(
        rf'("{member}": .*?"type": )"object"', r'\1"nonsense"', text, count=1, flags=re.DOTALL
    )
    assert damaged != text
    file.write_text(damaged, "utf-8")

    assert refusal().startswith(f"{file} cannot be used (")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def run(:", "SyntaxError: "),
        ("run = nothing", "NameError: name 'nothing' is not defined"),
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("raise RuntimeError", "RuntimeError"),
        ("raise ValueError('one\\ntwo')", "ValueError: one"),
    ],
)
def test_a_connector_that_does_not_run_is_named(folder: Path, text: str, why: str) -> None:
    (folder.parent / "broken_connector.py").write_text(text, "utf-8")
    named = [{"use": "tool", "module": "broken_connector", "path": "tools/a.yaml", "pointer": "/p"}]
    (folder / "handlers.json").write_text(json.dumps(named), "utf-8")

    with pytest.raises(ContractError) as refused:
        open_catalogue(PACKAGE, (*HANDLER_PACKAGES, "broken_connector"))

    said = refused.value.detail
    assert said.startswith(f"tools/a.yaml /p: broken_connector cannot be imported: {why}")
    assert said.endswith("; correct that module, or install what it imports")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ({"headers": [{"name": "Host", "template": "a"}]}, "Host belongs to the connection"),
        ({"base_url": "http://169.254.169.254"}, "169.254.169.254 is link-local"),
    ],
)
def test_what_no_contract_may_choose_is_fixed_in_the_contract(
    folder: Path, fault: dict[str, object], why: str
) -> None:
    file = folder / "upstreams/books.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | fault), "utf-8")

    with pytest.raises(ContractError) as refused:
        opened()

    assert refused.value.detail.startswith(f"upstreams/books/openapi.yaml: {why}")
    assert refused.value.detail.endswith("; correct it, and then run `gateway generate`")


def test_a_mock_outside_the_packages_is_refused_by_the_file_that_names_it(folder: Path) -> None:
    """`handlers.json` need not name it: the gateway imports what the upstream's file says."""
    file = folder / "upstreams" / "books.json"
    upstream = json.loads(file.read_bytes())
    file.write_text(json.dumps({**upstream, "mock": "shutil"}), "utf-8")

    with pytest.raises(ContractError, match=r"books\.json /mock: .*shutil"):
        opened()
