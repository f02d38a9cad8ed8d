"""`gateway release`, and the lint of `contracts.lock`, in a git repository."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from gateway.authoring.contracts import meta
from gateway.authoring.project import changes
from gateway.cli.authoring import release
from gateway.cli.edge import run
from tests.functional.cli.processes import ROOT
from tests.unit.edits import rewrite

INPUT = "schemas/tools/books/find_books.input.json"
GREET = "schemas/tools/hello/greet.yaml"
PERSON = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *PERSON, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def commit(subject: str) -> None:
    git("add", ".")
    git("commit", "--quiet", "--message", subject)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A committed project, in which commands run. It has no lock."""
    shutil.copytree(ROOT / "tests/assets/contracts/minimal", tmp_path / "schemas")
    meta.install(tmp_path / "schemas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setenv("GATEWAY_DATA", str(tmp_path / "data"))
    git("init", "--quiet", "--initial-branch", "master")
    commit("contracts")
    return tmp_path


@pytest.fixture
def gateway(project, capsys):
    """Runs a command: its exit code, and what it prints."""

    def _run(*arguments):
        capsys.readouterr()
        code = run(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return _run


@pytest.fixture
def released(project, gateway):
    """The same project after its first release, which is committed."""
    assert gateway("release", "--write")[0] == 0
    commit("first release")
    return project


def rules(gateway):
    code, out, _ = gateway("lint", "--json", "--errors-only")
    found = [each["rule"] for each in json.loads(out)["findings"]]
    assert code == bool(found)
    return found


def contents(folder):
    return {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_project_without_a_lock_is_not_asked_for_one(project, gateway):
    rewrite(project / INPUT, '"maximum": 50', '"maximum": 40')
    assert rules(gateway) == []


def test_nothing_is_written_without_being_asked(project, gateway):
    before = contents(project)
    code, out, _ = gateway("release")
    assert (code, contents(project)) == (0, before)
    assert "gateway release --write would write CHANGELOG.md and contracts.lock" in out


def test_from_the_edit_to_the_changelog_and_again(released, gateway):
    assert rules(gateway) == []
    rewrite(released / INPUT, '"maximum": 50', '"maximum": 40')
    rewrite(released / GREET, "Greet someone by name.", "Greet someone by a name.")
    assert rules(gateway) == ["version/bump-missing"] * 2

    code, out, _ = gateway("release", "--json")
    plan = json.loads(out)
    assert (code, plan["proved"], plan["bump"], plan["written"]) == (0, True, "major", False)
    assert [(each["id"], each["old"], each["new"], each["bump"]) for each in plan["contracts"]] == [
        ("books.find_books", "1.0.0", "2.0.0", "major"),
        ("hello.greet", "1.0.0", "1.0.1", "patch"),
    ]
    assert {each["verdict"] for each in plan["contracts"][0]["changes"]} >= {"breaking"}

    assert gateway("release", "--write")[0] == 0
    assert rules(gateway) == []
    written = contents(released)
    text = (released / "CHANGELOG.md").read_text("utf-8")
    assert "- **Breaking**: tool `books.find_books` 2.0.0 (was 1.0.0): " in text
    assert "- Compatible: tool `hello.greet` 1.0.1 (was 1.0.0): " in text

    code, out, _ = gateway("release", "--write")
    assert (code, contents(released)) == (0, written)
    assert "commit them" in out
    commit("second release")
    code, out, _ = gateway("release", "--write")
    assert (code, contents(released)) == (0, written)
    assert "nothing to release since" in out
    assert rules(gateway) == []


def test_a_breaking_change_needs_more_than_a_minor_version(released, gateway):
    rewrite(released / INPUT, '"maximum": 50', '"maximum": 40')
    assert gateway("release", "--write")[0] == 0
    rewrite(released / "contracts.lock", "version: 2.0.0", "version: 1.1.0")
    assert rules(gateway) == ["version/bump-too-small"]
    commit("too small")
    assert rules(gateway) == ["version/bump-too-small"]


def test_a_widened_input_is_a_minor_version(released, gateway):
    rewrite(released / INPUT, '"maximum": 50', '"maximum": 60')
    (step,) = json.loads(gateway("release", "--json")[1])["contracts"]
    assert (step["new"], step["facets"]) == ("1.1.0", ["input"])


def test_a_version_that_an_author_wrote_is_kept(released, gateway):
    rewrite(released / INPUT, '"maximum": 50', '"maximum": 60')
    lock = released / "contracts.lock"
    block = "  books.find_books:\n    version: "
    rewrite(lock, f"{block}1.0.0", f"{block}3.0.0")
    assert rules(gateway) == ["version/lock-edited"]
    assert gateway("release", "--write")[0] == 0
    assert f"{block}3.0.0" in lock.read_text("utf-8")
    assert rules(gateway) == []


def test_hashes_written_by_hand_are_repaired(released, gateway):
    lock = released / "contracts.lock"
    before = lock.read_text("utf-8")
    rewrite(lock, before.partition("input: sha256:")[2][:64], "0" * 64)
    assert rules(gateway) == ["version/lock-edited"]
    assert gateway("release", "--write")[0] == 0
    assert lock.read_text("utf-8") == before


def test_a_contract_that_is_gone(released, gateway):
    rewrite(
        released / "schemas/openapi.yaml",
        "  /v1/hello/greet: {$ref: ./tools/hello/greet.yaml}\n",
        "",
    )
    rewrite(released / "schemas/openapi.yaml", "  - {name: hello, description: Greetings.}\n", "")
    rewrite(released / "schemas/policies/agents.yaml", "      - hello.greet\n", "")
    hook = released / "schemas/webhooks/desk/webhook.yaml"
    text = hook.read_text("utf-8")
    start, end = text.index("        notifications:"), text.index("      shelf.changed:")
    hook.write_text(text[:start] + text[end:], "utf-8")
    for name in ("tools", "resources", "prompts"):
        shutil.rmtree(released / "schemas" / name / "hello")
    shutil.rmtree(released / "schemas/workflows")
    assert sorted(rules(gateway)) == ["version/bump-missing", "version/entry-unknown"]
    assert gateway("release", "--write")[0] == 0
    assert "- **Breaking**: tool `hello.greet` 1.0.0 is removed." in (
        released / "CHANGELOG.md"
    ).read_text("utf-8")
    assert rules(gateway) == []


def test_another_commit_can_be_named(released, gateway):
    rewrite(released / INPUT, '"maximum": 50', '"maximum": 60')
    assert gateway("release", "--write")[0] == 0
    commit("second release")
    assert json.loads(gateway("release", "--json")[1])["contracts"] == []
    plan = json.loads(gateway("release", "--json", "--since", "HEAD~1")[1])
    assert [(each["old"], each["new"]) for each in plan["contracts"]] == [("1.0.0", "1.1.0")]
    for name in ("nothing", "--help", "HEAD~9"):
        code, _, err = gateway("release", f"--since={name}")
        assert code == 2
        assert f"{name} is no commit of the git repository" in err
        assert "fix: correct the name" in err


def test_without_git_hashes_decide_and_it_says_so(released, gateway):
    shutil.rmtree(released / ".git")
    rewrite(released / INPUT, '"maximum": 50', '"maximum": 40')
    code, out, err = gateway("release", "--write")
    assert (code, "1.1.0" in out) == (0, True)
    assert "only the hashes were compared" in err
    assert rules(gateway) == []
    written = contents(released)
    assert gateway("release", "--write")[0] == 0
    assert contents(released) == written


def test_a_conflict_is_one_finding_and_nothing_is_written(released, gateway):
    lock = released / "contracts.lock"
    rewrite(lock, "tools:\n", "<<<<<<< HEAD\ntools:\n=======\ntools:\n>>>>>>> other\n")
    before = contents(released)
    for command in (("lint",), ("release", "--write")):
        code, out, _ = gateway(*command)
        assert (code, out.count("version/lock-damaged")) == (1, 1)
        assert out.startswith("contracts.lock:3: error version/lock-damaged")
    assert contents(released) == before


def test_contracts_with_errors_are_not_released(released, gateway):
    rewrite(released / GREET, "effect: read", "effect: look")
    code, out, _ = gateway("release", "--write")
    assert (code, "shape/x-policy" in out) == (1, True)


def test_the_lock_is_the_same_in_every_process(project):
    script = (
        "import sys; from pathlib import Path\n"
        "from gateway.authoring.codegen.lowering import lower\n"
        "from gateway.authoring.contracts.tree import read_tree\n"
        "from gateway.authoring.versions.lock import lock_of\n"
        "print(lock_of(lower(read_tree(Path('schemas'))), {}).text(), end='')\n"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert texts[0].count("version: 1.0.0") == 5


def test_git_merges_two_contracts_beside_each_other(released):
    """Two branches that raise them have no conflict."""
    lock = released / "contracts.lock"
    for branch, name in (("one", "books.add_book"), ("two", "books.find_books")):
        git("checkout", "--quiet", "-b", branch, "master" if branch == "one" else "one~1")
        head, found, rest = lock.read_text("utf-8").partition(f"  {name}:\n")
        rest = rest.replace("1.0.0", "2.0.0", 1).replace("binding: sha256:", "binding: sha256:0", 1)
        lock.write_text(f"{head}{found}{rest}", "utf-8")
        commit(branch)
    git("merge", "--quiet", "one")
    assert lock.read_text("utf-8").count("version: 2.0.0") == 2


def test_a_release_that_was_killed_is_undone_by_the_next_one(released, gateway, monkeypatch):
    rewrite(released / INPUT, '"maximum": 50', '"maximum": 60')
    before = contents(released)

    def die(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(changes, "finish", die)
        patch.setattr(changes, "undo", lambda _: ())
        assert gateway("release", "--write")[0] == 130
    assert contents(released) != before
    code, _, err = gateway("release", "--write")
    assert (code, "note: an interrupted command is undone in " in err) == (0, True)
    assert (released / "CHANGELOG.md").read_text("utf-8").count("books.find_books") == 2
    assert rules(gateway) == []


def test_a_lock_that_is_edited_meanwhile_is_not_replaced(released, gateway, monkeypatch):
    rewrite(released / INPUT, '"maximum": 50', '"maximum": 60')
    lock = released / "contracts.lock"
    prepare = release.lock_of

    def edited(*arguments):
        lock.write_text(lock.read_text("utf-8") + "# mine\n", "utf-8")
        return prepare(*arguments)

    monkeypatch.setattr(release, "lock_of", edited)
    code, _, err = gateway("release", "--write")
    assert (code, "contracts.lock was changed while this command ran" in err) == (2, True)
    assert lock.read_text("utf-8").endswith("# mine\n")
