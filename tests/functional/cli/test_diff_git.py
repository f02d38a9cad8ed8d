"""`gateway diff` with git refs, in a repository of its own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.authoring.contracts import meta

ROOT = Path(__file__).parents[3]
MINIMAL = ROOT / "tests" / "assets" / "contracts" / "minimal"
INPUT = Path("schemas", "tools", "hello", "greet.input.json")
DOCUMENT = {"openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {}}


@pytest.fixture
def project(tmp_path):
    """A project below the root of a repository, whose first commit has the minimal contracts."""
    folder = tmp_path / "repository" / "project"
    shutil.copytree(MINIMAL, folder / "schemas")
    meta.install(folder / "schemas")
    (folder / "api.json").write_text(json.dumps(DOCUMENT), "utf-8")
    git(folder.parent, "init", "-q")
    commit(folder)
    return folder


def git(folder, *arguments):
    named = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "contracts")


def set_length(project, length):
    path = project / INPUT
    contract = json.loads(path.read_text("utf-8"))
    contract["properties"]["name"]["minLength"] = length
    path.write_text(json.dumps(contract), "utf-8")


def diff(folder, *arguments):
    command = [sys.executable, "-m", "gateway", "diff", *arguments]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


def test_two_refs_are_compared_without_the_working_tree(project):
    set_length(project, 3)
    commit(project)
    set_length(project, 1)
    ended = diff(project, "HEAD~1", "HEAD", "--json")
    assert ended.returncode == 1
    changes = json.loads(ended.stdout)["changes"]
    assert [each["rule"] for each in changes] == ["input-narrowed"]
    # The working tree is as it was in the first commit, and nothing has touched it.
    assert diff(project, "HEAD~1").returncode == 0
    status = ["git", "status", "--porcelain", "--untracked-files=no"]
    found = subprocess.run(status, cwd=project, check=True, capture_output=True, text=True)
    assert found.stdout.split() == ["M", f"project/{INPUT}"]


@pytest.mark.parametrize("ref", ["nowhere", "--output=x", "HEAD~9", ":api.json"])
def test_a_ref_that_does_not_exist_is_one_error_with_its_fix(project, ref):
    ended = diff(project, "--", ref)
    assert (ended.returncode, ended.stdout) == (2, "")
    named = "an empty name" if ref == ":api.json" else ref
    assert f"error: {named} is no file, no folder, and no commit of the git repo" in ended.stderr
    assert "git fetch" in ended.stderr
    assert not (project / "x").exists()


def test_a_document_at_a_ref_is_compared_with_the_file(project):
    path = project / "api.json"
    path.write_text(json.dumps({**DOCUMENT, "paths": {"/a": {"get": {"responses": {}}}}}), "utf-8")
    ended = diff(project, "HEAD:api.json", "--json")
    assert ended.returncode == 0
    changes = json.loads(ended.stdout)["changes"]
    assert [each["rule"] for each in changes] == ["operation-added"]


def test_a_path_that_the_commit_lacks_is_an_error(project):
    ended = diff(project, "HEAD:other.json", "api.json")
    assert ended.returncode == 2
    assert "the commit HEAD has nothing at other.json" in ended.stderr


def test_a_folder_without_a_repository_is_an_error_that_says_so(tmp_path):
    shutil.copytree(MINIMAL, tmp_path / "schemas")
    ended = diff(tmp_path, "main")
    assert (ended.returncode, ended.stdout) == (2, "")
    said = f"no commit, because git reads no repository at {tmp_path}/schemas (fatal: not a git"
    assert f"error: main is no file, no folder, and {said}" in ended.stderr
    assert "fix: name two folders or two documents" in ended.stderr


@pytest.mark.parametrize("is_there", [False, True])
def test_without_a_git_that_runs_the_error_names_what_was_asked_for(project, is_there, monkeypatch):
    programs = project / "programs"
    programs.mkdir()
    if is_there:
        (programs / "git").touch(0o600)
    monkeypatch.setenv("PATH", str(programs))
    ended = diff(project, "HEAD")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "error: HEAD is no file, no folder, and git cannot be run" in ended.stderr
    assert "fix: install git, or name two folders or two documents" in ended.stderr
