"""Commands that write a project: nothing of its author is lost, and one at a time writes."""

import json
import shutil
import threading
from pathlib import Path

import pytest

from gateway.authoring.project import changes
from gateway.authoring.project.staging import new_project
from gateway.cli.authoring import add, generate, new
from gateway.cli.importing import command, eject
from tests.vendors import contents, shop

COMMANDS = {
    "add": (add, "add_connectors", ("add", "weather"), "schemas/openapi.yaml"),
    "new": (new, "with_generated", ("new", "event", "order.sent"), "schemas/openapi.yaml"),
    "eject": (eject, "with_generated", ("eject", "pets"), "schemas/openapi.yaml"),
    "import": (
        command,
        "import_new",
        ("import", "pets.json", "--as", "cats"),
        "schemas/upstreams/cats/import.yaml",
    ),
    "update": (
        command,
        "import_again",
        ("import", "new.json", "--as", "pets", "--update"),
        "schemas/upstreams/pets/import.yaml",
    ),
    "generate": (generate, "generate", ("generate",), "generated/tools/__init__.py"),
}
"""By name: the module and the function that it calls after reading, the command, and a file that it
would write."""


@pytest.fixture(scope="session")
def files():
    return new_project("ours", "1.0.0")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Where the project is kept once it is made."""
    return tmp_path_factory.mktemp("made") / "project"


@pytest.fixture
def project(cli, tmp_path, files, made, monkeypatch):
    """A project with an import, and its generated package is stale."""
    monkeypatch.delenv("GATEWAY_SCHEMAS")
    if made.exists():
        shutil.copytree(made, tmp_path, dirs_exist_ok=True)
        return tmp_path
    changes.place(tmp_path, files)
    for name, paths in (("pets", {"a": "list"}), ("new", {"a": "list", "b": "find"})):
        (tmp_path / f"{name}.json").write_text(json.dumps(shop(**paths)), "utf-8")
    assert cli("import", "pets.json").code == 0
    assert cli("generate").code == 0
    tools = tmp_path / "generated/tools/__init__.py"
    tools.write_text(f"{tools.read_text('utf-8')}# stale\n", "utf-8")
    shutil.copytree(tmp_path, made)
    return tmp_path


def at(monkeypatch, name, action):
    """Let the command do `action` when it has read the project and has written nothing."""
    module, function, arguments, path = COMMANDS[name]
    original = getattr(module, function)

    def called(*args, **named):
        found = original(*args, **named)
        action(Path(path))
        return found

    monkeypatch.setattr(module, function, called)
    return arguments, path


def save(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("# saved by the author\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_saved_meanwhile_stays_and_nothing_is_written(cli, project, monkeypatch, name):
    arguments, path = at(monkeypatch, name, save)
    before = contents(project)
    before.setdefault(path, b"")
    code, _, err = cli(*arguments)
    assert (code, "was changed while this command ran, and nothing is written" in err) == (2, True)
    assert "fix: run it again" in err
    after = contents(project)
    assert after.pop(path) == before.pop(path) + b"# saved by the author\n"
    assert {k: v for k, v in after.items() if "cache" not in k} == {
        k: v for k, v in before.items() if "cache" not in k
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_two_commands_at_once_wait_for_each_other(cli, project, monkeypatch, name):
    """The second one reads what the first one wrote."""
    waiting = threading.Event()
    second = []

    def start(_):
        if not second:
            second.append(threading.Thread(target=other))
            second[0].start()
            assert not waiting.wait(0.2)

    def other():
        with changes.holding(project, []):
            waiting.set()

    arguments, _ = at(monkeypatch, name, start)
    assert cli(*arguments).code == 0
    second[0].join()
    assert waiting.is_set()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_next_command_undoes_a_killed_one_and_says_so(cli, project, monkeypatch, name):
    arguments = COMMANDS[name][2]
    before = contents(project)
    with monkeypatch.context() as patch:
        patch.setattr(changes, "finish", die)
        patch.setattr(changes, "undo", lambda _: ())
        assert cli(*arguments).code == 130
    changed = {path for path, content in contents(project).items() if before.get(path) != content}
    assert COMMANDS[name][3] in changed
    assert "a command that was interrupted left a part of its change" in cli("lint").err
    code, _, err = cli("new", "event", "order.late", "--dry-run")
    assert (code, "note: an interrupted command is undone in " in err) == (0, True)
    after = contents(project)
    assert {k: v for k, v in after.items() if "cache" not in k} == {
        k: v for k, v in before.items() if "cache" not in k
    }


def die(_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("schemas", [".", "../schemas", "tools/.."])
def test_commands_in_the_schemas_folder_change_the_project(cli, project, monkeypatch, schemas):
    monkeypatch.chdir(project / "schemas")
    code, _, err = cli("new", "event", "order.sent", "--schemas", schemas)
    assert code == 0, err
    assert (project / "schemas/events/order.sent.v1.yaml").is_file()
    assert cli("generate", "--check", "--schemas", schemas).code == 0
    assert contents(project / "schemas").keys() == {
        *(name.removeprefix("schemas/") for name in contents(project) if "schemas/" in name)
    }


def test_a_refusal_names_the_file_of_the_project(cli, project):
    (project / "generated/mine.py").write_text("mine = 1\n", "utf-8")
    err = cli("new", "event", "order.sent").err
    assert "generated/mine.py was not written by the generator" in err
    assert "gateway-stage" not in err
