"""`gateway vectors` at the terminal: what it prints, keeps and refuses."""

import json
import shutil
from pathlib import Path

import pytest

NAME = "hello.greet"
FILE = Path("tools/hello/greet.input.vectors.json")


@pytest.fixture
def folder(small, small_project, tmp_path, monkeypatch) -> Path:
    """The schemas of a copy of the small project, to keep vectors in."""
    copied = Path(shutil.copytree(small_project, tmp_path / "project"))
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(copied / "schemas"))
    return copied / "schemas"


def test_each_schema_is_a_row_and_all_mutants_are_told(cli, folder):
    code, out, _ = cli("vectors", NAME)

    assert code == 0
    head, first, second, *_, last = out.splitlines()
    assert head.split()[-3:] == ["score", "keywords", "seconds"]
    assert first.startswith(f"{NAME} input")
    assert second.startswith(f"{NAME} output")
    assert "100.0%" in first
    assert last.endswith(" 0 undecided")


def test_for_programs_it_prints_the_coverage_of_each_schema(cli, folder):
    code, out, _ = cli("vectors", NAME, "--json")

    found = json.loads(out)
    assert code == 0
    assert [each["subject"] for each in found] == [f"{NAME} input", f"{NAME} output"]
    assert found[0]["mutants"]["killed"] > 0
    assert (found[0]["mutants"]["survivors"], found[0]["mutants"]["undecided"]) == ([], [])


def test_an_unknown_name_is_refused(cli, folder):
    code, out, err = cli("vectors", "hello.nobody")

    assert (code, out) == (2, "")
    assert err.startswith("error: there is no contract hello.nobody")
    assert "fix: see `gateway tools`" in err


def test_kept_vectors_stand_beside_the_schema_and_are_used(cli, folder):
    made = cli("vectors", NAME, "--json")
    assert cli("vectors", NAME, "--keep").code == 0

    text = (folder / FILE).read_text("utf-8")
    assert len(text.splitlines()) == len(json.loads(text)["vectors"]) + 6
    kept = cli("vectors", NAME, "--json")
    assert kept.code == 0
    first, second = (json.loads(each.out)[0]["mutants"] for each in (made, kept))
    assert first["killed"] == second["killed"]
    assert cli("vectors", NAME, "--keep").code == 0
    assert (folder / FILE).read_text("utf-8") == text


def damaged(text: str, how: str) -> str:
    value = json.loads(text)
    match how:
        case "a vector is left out":
            return json.dumps({**value, "vectors": value["vectors"][1:]})
        case "a verdict is turned":
            first = {**value["vectors"][0], "valid": not value["vectors"][0]["valid"]}
            return json.dumps({**value, "vectors": [first, *value["vectors"][1:]]})
        case "another schema":
            return json.dumps({**value, "schema": "0" * 32})
        case "marks of a conflict":
            return f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n"
        case "an unknown member":
            return json.dumps({**value, "note": ""})
        case _:
            return ""


@pytest.mark.parametrize(
    ("how", "where"),
    [
        ("a vector is left out", "#/digest"),
        ("a verdict is turned", "#/vectors/0/valid"),
        ("another schema", "#/schema"),
        ("marks of a conflict", "another form"),
        ("an unknown member", "another form"),
        ("nothing", "another form"),
    ],
)
def test_a_kept_file_that_is_wrong_is_one_finding(cli, folder, how, where):
    cli("vectors", NAME, "--keep")
    text = (folder / FILE).read_text("utf-8")
    (folder / FILE).write_text(damaged(text, how), "utf-8")

    code, out, err = cli("vectors", NAME)

    assert (code, out) == (2, "")
    assert err.count("error: ") == 1
    assert f"error: {FILE}" in err
    assert where in err
    assert "fix: look at the change of the contract" in err
    assert cli("vectors", NAME, "--keep").code == 0
    assert (folder / FILE).read_text("utf-8") == text


@pytest.mark.parametrize("command", ["vectors", "test", "verify"])
def test_contracts_that_the_package_does_not_serve_are_not_tested(cli, folder, command):
    schema = folder / "tools/hello/greet.input.json"
    schema.write_text(schema.read_text("utf-8").replace("The name.", "A name."), "utf-8")

    code, out, err = cli(command)

    assert (code, out) == (1, "")
    assert "fix: gateway generate" in err


def test_all_is_not_for_one_connector(cli):
    code, out, err = cli("verify", "--all", "--connector", "example")

    assert (code, out) == (2, "")
    assert "--all is for the whole project" in err
