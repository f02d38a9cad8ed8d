"""Opening the generated package: what is said of one that is damaged."""

import importlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.catalogue import Catalogue, open_catalogue, open_routes
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import ContractError, UnknownOperation

GENERATED = Path(__file__).parents[2] / "generated"
SCHEMAS = GENERATED.with_name("schemas")
PACKAGE = "damaged_by_the_catalogue_test"

Damage = Callable[[str, str, str], None]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the committed package that imports by its own name."""
    copy = tmp_path / PACKAGE
    shutil.copytree(GENERATED, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for module in copy.rglob("*.py"):
        text = module.read_text("utf-8")
        module.write_text(re.sub(r"\bgenerated\b(?=[. ])", PACKAGE, text), "utf-8")
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
    assert {route.name for route in open_routes(PACKAGE)} == {
        entry.id for entry in catalogue.entries
    }


def test_one_connector_answers_to_bare_names_alone(folder: Path) -> None:
    catalogue = opened()

    assert catalogue.find_tool("greet", "example") is catalogue.find_tool("example_greet")
    for name, connector in [("example_greet", "example"), ("greet", None), ("greet", "avinode")]:
        with pytest.raises(UnknownOperation):
            catalogue.find_tool(name, connector)


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(ContractError, match=r"'no_such_package' cannot be used"):
        opened("no_such_package")


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("tools.json", '{"tools":[]}', "there is no tool for amadeus.get_airport_code"),
        ("tools.json", "{}", "there is no tool for amadeus.get_airport_code"),
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
        ("operations/avinode.py", "1 / 0", "division by zero"),
        ("bindings/avinode/create_rfp.py", "import nowhere", "No module named 'nowhere'"),
        ("tools/__init__.py", "TOOLS = ()", "there is no tool for amadeus.get_airport_code"),
        ("upstreams/avinode.json", "not json", "malformed"),
        ("upstreams/avinode.json", '{"name":"avinode","title":"A","base_url":null}', "it lacks"),
        ("openapi.json", "not json", "malformed"),
        ("openapi.json", "[]", "Expected `object`"),
        ("webhooks/__init__.py", "WEBHOOKS = None", "WEBHOOKS is not a tuple"),
        ("webhooks/avinode/__init__.py", "1 / 0", "division by zero"),
        ("webhooks/avinode/quote_received.py", "import nowhere", "No module named 'nowhere'"),
        ("webhooks.json", "{", "truncated"),
        ("webhooks.json", "{}", "there is no payload schema for avinode."),
        ("webhooks.json", '{"avinode":{"rfq_received":{"type":1}}}', "no payload schema"),
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

    assert set(catalogue.webhooks) == {each.name for each in (SCHEMAS / "webhooks").iterdir()}
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
    damaged = folder / "bindings" / "avinode" / "create_rfp.py"
    damaged.write_text("1 / 0", "utf-8")

    assert refusal().startswith(f"{damaged} ")


@pytest.mark.parametrize(
    "file",
    [
        "tools.json",
        "openapi.json",
        "upstreams/avinode.json",
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
    file = folder / ("upstreams/avinode.json" if member == "replies" else "tools.json")
    text = file.read_text("utf-8")
    damaged = re.sub(
        rf'("{member}": .*?"type": )"object"', r'\1"nonsense"', text, count=1, flags=re.DOTALL
    )
    assert damaged != text
    file.write_text(damaged, "utf-8")

    assert refusal().startswith(f"{file} cannot be used (")


def test_missing_routes_are_refused_when_a_server_asks_for_them(folder: Path) -> None:
    shutil.rmtree(folder / "routes")

    assert f"No module named '{PACKAGE}.routes'" in refusal(open_routes)


def test_damaged_routes_are_named(folder: Path) -> None:
    (folder / "routes" / "avinode.py").write_text("nonsense", "utf-8")

    assert refusal(open_routes).startswith(f"{folder / 'routes' / 'avinode.py'} ")


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
    file = folder / "upstreams/avinode.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | fault), "utf-8")

    with pytest.raises(ContractError) as refused:
        opened()

    assert refused.value.detail.startswith(f"upstreams/avinode/openapi.yaml: {why}")
    assert refused.value.detail.endswith("; correct it, and then run `gateway generate`")
