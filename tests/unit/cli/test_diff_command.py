"""`gateway diff` at the terminal: sides, forms of output, acknowledgements and exit codes."""

import json
import shutil

import pytest


@pytest.fixture(autouse=True)
def project(cli, schemas, tmp_path, monkeypatch):
    """A project with the minimal contracts, and a copy of them in the folder `old`."""
    folder = tmp_path / "project"
    shutil.copytree(schemas, folder / "schemas")
    shutil.copytree(schemas, folder / "old")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GATEWAY_SCHEMAS")
    return folder


def edit(project, name, old, new):
    path = project / "schemas" / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


INPUT = "tools/hello/greet.input.json"


def test_no_change_is_an_empty_diff(cli):
    code, out, err = cli("diff", "old")
    assert (code, out) == (
        0,
        "0 breaking, 0 undecided, 0 policy, 0 safe; 0 to fix or acknowledge\n",
    )
    assert err == ""


def test_a_narrowed_argument_breaks_with_a_witness(cli, project):
    edit(project, INPUT, '"minLength": 1', '"minLength": 3')
    code, out, err = cli("diff", "old")
    assert err == ""
    assert code == 1
    first, place, witness, refusal, *_ = out.splitlines()
    assert first.startswith("BREAKING  hello.greet  arguments: name: minLength 1 → 3  [input-narr")
    assert place == f"  {INPUT}#/properties/name/minLength"
    assert 1 <= len(json.loads(witness)["name"]) < 3
    assert refusal.startswith("  accepted by OLD, refused by NEW: /name: ")


def test_a_widened_argument_is_safe(cli, project):
    edit(project, INPUT, '"minLength": 1', '"minLength": 0')
    code, out, _ = cli("diff", "old", "--json")
    assert code == 0
    (change,) = json.loads(out)["changes"]
    assert (change["rule"], change["verdict"]) == ("input-widened", "safe")


def test_contracts_that_cannot_be_read_are_never_no_change(cli, project):
    path = project / "schemas" / INPUT
    path.write_text("{", "utf-8")
    code, out, err = cli("diff", "old")
    assert (code, out) == (2, "")
    assert INPUT in err


def test_contracts_that_are_wrong_are_refused_with_the_first_finding_and_its_fix(cli, project):
    edit(project, INPUT, '"minLength": 1', '"minLength": 900')
    code, out, err = cli("diff", "old")
    assert (code, out) == (2, "")
    assert "schema/unsatisfiable /properties/" in err
    assert ", and 2 more\nfix: Fix the contradiction." in err


def test_an_acknowledged_change_passes_with_its_reason(cli, project):
    edit(project, INPUT, '"minLength": 1', '"minLength": 3')
    (change,) = json.loads(cli("diff", "old", "--json").out)["changes"]
    entry = {
        "rule": change["rule"],
        "subject": change["subject"],
        "change": change["fingerprint"],
        "reason": "nobody has so short a name",
    }
    file = project / "diff-acknowledged.yaml"
    file.write_text(json.dumps({"acknowledged": [entry]}), "utf-8")
    code, out, _ = cli("diff", "old")
    assert code == 0
    assert "(acknowledged: nobody has so short a name)" in out
    edit(project, INPUT, '"minLength": 3', '"minLength": 1')
    code, _, err = cli("diff", "old")
    assert code == 0
    assert f"no change is {change['fingerprint']}" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("acknowledged: [{rule: input-narrowed}]", "missing required field"),
        ("severities: [{rule: x, severity: info, reason: y}]", "there is no rule 'x'"),
        ("severities: [{rule: input-narrowed, severity: info, reason: ''}]", "empty reason"),
        ("[", "diff-acknowledged.yaml:"),
    ],
)
def test_a_wrong_file_of_acknowledgements_is_refused(cli, project, text, said):
    (project / "diff-acknowledged.yaml").write_text(text, "utf-8")
    code, _, err = cli("diff", "old")
    assert code == 2
    assert said in err


def test_the_severity_of_a_rule_can_be_set(cli, project):
    edit(project, INPUT, '"minLength": 1', '"minLength": 3')
    own = project / "own.yaml"
    entry = "{rule: input-narrowed, severity: warning, reason: not published yet}"
    own.write_text(f"severities: [{entry}]", "utf-8")
    code, out, _ = cli("diff", "old", "--acknowledged", own)
    assert code == 0
    assert "BREAKING  hello.greet" in out


def test_markdown_shows_texts_of_contracts_as_data(cli, project):
    edit(project, INPUT, '"minLength": 1', '"minLength": 1, "pattern": "^[^|<`]*$"')
    code, out, _ = cli("diff", "old", "--format", "markdown")
    assert code == 1
    row = next(line for line in out.splitlines() if line.startswith("| BREAKING |"))
    assert "\\|&lt;'" in row
    assert "~~~json" in out


@pytest.mark.parametrize(
    ("form", "said"), [("junit", "<testsuite"), ("sarif", '"2.1.0"'), ("html", "<!doctype html>")]
)
def test_changes_have_the_forms_of_other_reports(cli, project, form, said):
    edit(project, INPUT, '"minLength": 1', '"minLength": 3')
    code, out, _ = cli("diff", "old", "--format", form)
    assert code == 1
    assert said in out
    assert "input-narrowed" in out
    assert cli("diff", "old", "--format", form).out == out


def test_policy_is_another_column_than_proof(cli, project):
    edit(project, "tools/hello/greet.yaml", "Greet someone by name.", "Greet a person by name.")
    (change,) = json.loads(cli("diff", "old", "--json").out)["changes"]
    assert (change["rule"], change["verdict"]) == ("tool-description-changed", "policy")
    assert "witness" not in change


def test_a_folder_and_a_document_are_not_compared(cli, project):
    document = project / "api.json"
    document.write_text('{"openapi": "3.1.0", "paths": {}}', "utf-8")
    code, out, err = cli("diff", "old", document)
    assert (code, out) == (2, "")
    assert "one is a folder of contracts" in err


def test_equal_documents_are_read_once_and_never_unread(cli, project):
    for name in ("one.json", "two.json"):
        (project / name).write_text('{"openapi": "3.1.0", "paths": {}}', "utf-8")
    assert cli("diff", "one.json", "two.json").code == 0
    for name in ("one.json", "two.json"):
        text = '{"openapi": "3.1.0", "paths": {"/a": {"$ref": "#/nowhere"}}}'
        (project / name).write_text(text, "utf-8")
    code, out, err = cli("diff", "one.json", "two.json")
    assert (code, out) == (2, "")
    assert "nowhere" in err
