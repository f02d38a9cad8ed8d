"""The repository holds what its layout says, and nothing of the machine it was written on."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

TOP_LEVEL: Final = {
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "docs",
    "gateway",
    "generated",
    "pyproject.toml",
    "schemas",
    "scripts",
    "tests",
}
UNTRACKED: Final = {"data", "gateway.toml", "dist"}
"""What a user of a checkout makes beside it; git ignores it."""
TARGETS: Final = 20
STEPS: Final = ("test", "test-all", "check", "audit", "sbom")
"""What `.ci/run` asks of make, after `setup`."""
HOMES: Final = r"/(home/[a-z]|Users/[A-Za-z]|root/)"


@pytest.fixture(scope="module")
def tracked(root):
    """The files that git holds or would add; without git, those that a clone would bring."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert listed.returncode == 0, "the tests look at a git checkout"
    return [root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def test_the_top_level_is_the_fixed_one(root):
    """A new thing finds its place in an existing folder."""
    visible = {entry.name for entry in root.iterdir() if not entry.name.startswith(".")}
    assert visible - UNTRACKED - {"__pycache__"} == TOP_LEVEL


def test_every_make_target_says_what_it_is_for(root):
    makefile = (root / "Makefile").read_text("utf-8")
    targets = re.findall(r"^([a-z][a-z-]*):(?!=)(.*)$", makefile, re.MULTILINE)
    assert 0 < len(targets) <= TARGETS
    assert [name for name, rest in targets if "## " not in rest] == []


def test_continuous_integration_runs_the_same_targets(root):
    script = (root / ".ci" / "run").read_text("utf-8")
    steps = re.findall(r"^step (\S+) ", script, re.MULTILINE)
    assert steps == ["setup", *STEPS]
    assert all(f"make {step}" in script for step in steps)
    assert ".ci/run" in (root / ".github" / "workflows" / "check.yml").read_text("utf-8")
    assert (root / ".ci" / "run").stat().st_mode & 0o111


def test_each_test_is_run_by_one_of_the_commands(root, pytestconfig):
    """`testpaths`, `--rest` and `make check` share the folders: nothing is run twice or never."""
    folders = [*pytestconfig.getini("testpaths"), "tests/architecture"]
    assert all((root / folder).is_dir() for folder in folders)
    assert not [word for word in made(root, "test") if word.startswith("tests")]
    assert {"tests", "--rest"} < set(made(root, "test-all"))
    checks = (root / "scripts/check.py").read_text("utf-8")
    assert '("pytest", "-q", "tests/architecture")' in checks


@pytest.mark.parametrize("failing", [None, *STEPS])
def test_continuous_integration_fails_when_one_of_its_steps_does(root, tmp_path, failing):
    """The script itself, in a repository of its own; its `make` records what it is asked."""
    tree, programs, asked = tmp_path / "tree", tmp_path / "bin", tmp_path / "asked"
    shell = "#!/bin/sh\n"
    failure = f'[ "$1" != "{failing}" ]\n'
    files = {
        tree / ".ci" / "run": (root / ".ci" / "run").read_text("utf-8"),
        tree / "tests" / "clients" / "install": shell,
        programs / "chromium": shell,
        programs / "redis-server": shell,
        programs / "make": f'{shell}echo "$1" >>"{asked}"\n{failure}',
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755)
    person = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for command in (["init", "--quiet"], ["add", "."], [*person, "commit", "--quiet", "-m", "all"]):
        subprocess.run(["git", *command], cwd=tree, check=True)
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "GATEWAY_TEST_POSTGRES": "postgresql://none",
    }
    done = subprocess.run(
        [tree / ".ci" / "run"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == (0 if failing is None else 1), done.stdout + done.stderr
    assert asked.read_text("utf-8").split() == ["setup", *STEPS]
    report = json.loads((tree / "dist" / "ci.json").read_text("utf-8"))
    assert report["result"] == ("ok" if failing is None else "failed")
    failed = [step["name"] for step in report["steps"] if step["result"] != "ok"]
    assert failed == ([] if failing is None else [failing])
    head = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(head, cwd=tree, capture_output=True, text=True, check=True)
    assert report["commit"] == commit.stdout.strip()


def test_advisories_that_cannot_be_looked_up_are_an_error_in_the_workflow(root):
    assert made(root, "audit", "ARGS=--strict")[-1] == "--strict"
    assert 'make audit ARGS="$*"' in (root / ".ci" / "run").read_text("utf-8")
    workflow = (root / ".github" / "workflows" / "check.yml").read_text("utf-8")
    assert "- run: .ci/run --strict\n" in workflow


def made(root, *arguments):
    """The words of the last command that make would run."""
    # The settings of a make that runs the tests are not for this one.
    inherited = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "ARGS"}
    environment = {name: value for name, value in os.environ.items() if name not in inherited}
    done = subprocess.run(
        ["make", "-n", *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip().splitlines()[-1].split()


def test_no_file_names_a_path_of_one_machine(root, tracked):
    here = Path(__file__)
    machine = re.compile(f"{HOMES}|{re.escape(str(root))}")
    texts = [file for file in tracked if file != here and _is_text(file)]
    assert texts
    offenders = [
        f"{file.relative_to(root)}:{number}"
        for file in texts
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if machine.search(line)
    ]
    assert offenders == []


def test_state_and_secrets_are_ignored_by_git(root):
    secret = ["data/gateway.db", "data/bootstrap-key", "gateway.toml", ".env", ".venv/bin/python"]
    ignored = subprocess.run(
        ["git", "check-ignore", *secret], cwd=root, capture_output=True, text=True, check=False
    )
    assert ignored.stdout.split() == secret


def _is_text(file: Path) -> bool:
    return file.suffix in {".md", ".py", ".toml", ".yaml", ".yml", ".json", ".cfg", ""} and (
        b"\0" not in file.read_bytes()[:1024]
    )
