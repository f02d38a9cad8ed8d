"""`lint` and `generate` at the terminal: forms of output and exit codes."""

import json

import pytest

from gateway.authoring.lint import RULES


@pytest.fixture(autouse=True)
def small(cli, schemas, monkeypatch):
    """The commands read the minimal contracts unless they are given others."""
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(schemas))


@pytest.fixture
def damaged(schemas):
    """Contracts with one description that begins in lower case and lacks its full stop."""
    tool = schemas / "tools" / "hello" / "greet.yaml"
    text = tool.read_text("utf-8")
    tool.write_text(
        text.replace("description: Greet someone by name.", "description: greet"), "utf-8"
    )
    return schemas


def test_clean_contracts_exit_with_0(cli):
    code, out, _ = cli("lint", "--errors-only")
    assert (code, out) == (0, "0 errors, 0 notes\n")


def test_notes_that_ask_for_no_change_are_counted_and_printed_on_request(cli, schemas):
    name = schemas / "tools" / "hello" / "greet.input.json"
    text = name.read_text("utf-8").replace('"minLength": 1', '"minLength": 1, "not": {"const": ""}')
    name.write_text(text, "utf-8")
    code, out, _ = cli("lint")
    assert code == 0
    assert "amber" not in out
    assert out.splitlines()[-1].endswith("need no change: gateway lint --notes prints them")

    code, out, _ = cli("lint", "--notes")
    assert code == 0
    assert "note schema/amber-keyword " in out


def test_a_finding_names_file_line_rule_pointer_and_fix(cli, damaged):
    code, out, _ = cli("lint", "--errors-only", "--schemas", damaged)
    assert code == 1
    first, fix, *_ = out.splitlines()
    assert first.startswith(f"{damaged}/tools/hello/greet.yaml:6: error ")
    assert " /post/description: " in first
    assert fix.startswith("  fix: ")


def test_findings_for_programs(cli, damaged):
    code, out, _ = cli("lint", "--json", "--schemas", damaged)
    assert code == 1
    report = json.loads(out)
    assert report["errors"] == len([f for f in report["findings"] if f["severity"] == "error"]) > 0


def test_findings_for_code_hosts(cli, damaged):
    code, out, _ = cli("lint", "--sarif", "--schemas", damaged)
    assert code == 1
    sarif = json.loads(out)
    assert sarif["version"] == "2.1.0"
    assert any(result["level"] == "error" for result in sarif["runs"][0]["results"])


def test_a_folder_that_is_not_there_cannot_be_linted(cli):
    code, out, err = cli("lint", "--schemas", "absent")
    assert (code, out) == (2, "")
    assert err.startswith("error: absent is not a folder (--schemas), so there is no project in ")
    assert err.splitlines()[1].startswith("fix: make one with `gateway init`, or ")


def test_a_package_that_is_not_what_the_contracts_say_is_not_verified(cli, schemas):
    tool = schemas / "tools" / "hello" / "greet.yaml"
    tool.write_text(tool.read_text("utf-8").replace("value: {name: ", "value: {name: Dr ", 1))
    code, out, err = cli("verify", "--schemas", schemas)
    assert (code, out) == (1, "")
    assert "do not match the contracts" in err
    assert err.endswith("fix: gateway generate\n")


def test_contracts_with_findings_are_not_verified(cli, damaged):
    code, out, err = cli("verify", "--schemas", damaged)
    assert (code, out) == (1, "")
    assert err == f"error: 1 finding in {damaged}\nfix: see `gateway lint`\n"


def test_the_rules_can_be_listed(cli):
    _, out, _ = cli("lint", "--rules", "--json")
    assert {rule["id"] for rule in json.loads(out)} == {rule.id for rule in RULES}
    assert cli("lint", "--rules").out.count("\n") == len(RULES) + 1


def test_every_mapped_field_is_judged(cli):
    """A gap must be answered in the contract, or lint would have refused it."""
    code, out, _ = cli("lint", "--bindings", "--json")
    assert code == 0
    proofs = [each["proof"] for each in json.loads(out)]
    assert proofs
    assert {proof["verdict"] for proof in proofs} <= {"PROVED", "GAP", "UNDECIDED"}
    assert all(proof["on_gap"] for proof in proofs if proof["verdict"] == "GAP")


def test_bindings_are_a_table_with_a_count_for_people(cli):
    code, out, _ = cli("lint", "--bindings")
    assert code == 0
    assert out.splitlines()[0].split()[:2] == ["operation", "field"]
    assert " PROVED, " in out.splitlines()[-1]


def test_generate_writes_once_and_then_has_nothing_to_do(cli, schemas, tmp_path):
    code, out, _ = cli("generate", "--schemas", schemas)
    assert code == 0
    assert " files written for " in out
    assert not (tmp_path / "docs").exists()
    code, out, _ = cli("generate", "--check", "--schemas", schemas)
    assert code == 0
    assert " files up to date for " in out


def test_a_stale_package_is_shown_as_a_diff(cli, schemas, tmp_path):
    pages = tmp_path / "docs" / "reference" / "tools"
    pages.mkdir(parents=True)
    cli("generate", "--schemas", schemas)
    assert (pages / "index.md").is_file(), "who has a folder for pages gets them"
    policies = tmp_path / "generated" / "policies.py"
    policies.write_text(policies.read_text("utf-8") + "EDITED = True\n", "utf-8")
    code, out, err = cli("generate", "--check", "--schemas", schemas)
    assert code == 1
    assert "--- a/generated/policies.py" in out
    assert "-EDITED = True" in out
    assert err == "stale: 1 of " + err.partition("1 of ")[2]
    assert err.endswith("fix: gateway generate\n")
    code, out, _ = cli("generate", "--check", "--schemas", schemas, "--json")
    assert code == 1
    assert json.loads(out)["changes"] == [
        {"path": "generated/policies.py", "difference": "changed"}
    ]


def test_refused_contracts_write_nothing(cli, damaged, tmp_path):
    code, out, _ = cli("generate", "--schemas", damaged)
    assert code == 1
    assert "tools/hello/greet.yaml:6: error " in out
    assert not (tmp_path / "generated").exists()
