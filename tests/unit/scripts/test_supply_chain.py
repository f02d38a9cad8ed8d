"""The bill of materials and the advisory check: what they say, and what they call an error."""

import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
PIP = "pip==26.3 --hash=sha256:" + "0" * 64


def chore(name: str) -> ModuleType:
    """A script, imported."""
    spec = spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPTS / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
        check=False,
    )


def answer(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


CLEAN = {"name": "yarl", "version": "1.2", "vulns": []}
UNKNOWN = {"name": "own", "skip_reason": "Dependency not found on PyPI"}
ADVISORY = {"id": "PYSEC-2026-1", "aliases": ["CVE-2026-1"], "fix_versions": ["2.0"]}
AFFECTED = {"name": "jinja2", "version": "1.0", "vulns": [ADVISORY]}


def test_an_advisory_is_an_error_and_says_what_to_do() -> None:
    status, text = chore("advisories").outcome(answer(CLEAN, AFFECTED), "")
    assert status == 1
    assert "jinja2 1.0: PYSEC-2026-1, fixed in 2.0" in text
    assert "scripts/lock.py --upgrade" in text


def test_an_accepted_advisory_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    advisories = chore("advisories")
    monkeypatch.setitem(advisories.ACCEPTED, "CVE-2026-1", "the function is not called")
    assert advisories.outcome(answer(CLEAN, AFFECTED), "")[0] == 0


def test_each_accepted_advisory_has_a_reason() -> None:
    assert all(len(reason) > 20 for reason in chore("advisories").ACCEPTED.values())


def test_how_many_packages_were_checked_is_said() -> None:
    assert chore("advisories").outcome(answer(CLEAN, UNKNOWN), "") == (
        0,
        "advisories: none known, 1 of 2 packages checked",
    )


@pytest.mark.parametrize("output", ["", answer(UNKNOWN)], ids=["no answer", "knows no package"])
def test_where_nothing_answers_that_is_said_and_no_error_unless_wanted(output: str) -> None:
    """pip-audit itself calls an index that knows no package free of advisories."""
    advisories = chore("advisories")
    status, text = advisories.outcome(output, "no route to host")
    assert status == 0
    assert "NOT CHECKED" in text
    assert advisories.outcome(output, "no route to host", strict=True)[0] == 1


def test_without_a_network_the_check_passes_and_says_so(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    lock.write_text(PIP, "utf-8")
    nowhere = "http://127.0.0.1:9"
    done = run("advisories", "--lock", str(lock), HTTPS_PROXY=nowhere, https_proxy=nowhere)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("advisories: NOT CHECKED, ")


def test_a_lock_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    lock.write_text("yarl>=1\n", "utf-8")
    done = run("advisories", "--lock", str(lock))
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {lock}: ")


def test_the_bill_names_what_runs_and_what_only_develops(tmp_path: Path) -> None:
    output = tmp_path / "folder" / "sbom.json"
    done = run("sbom", "--output", str(output))
    assert done.returncode == 0, done.stderr
    bill = json.loads(output.read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "contract-gateway"
    scopes = {each["name"].lower(): each["scope"] for each in bill["components"]}
    assert {scopes[name] for name in ("litestar", "asyncpg", "cryptography")} == {"required"}
    assert {scopes[name] for name in ("pytest", "mypy", "sphinx", "pip")} == {"excluded"}
    assert all(each["version"] and each["purl"] for each in bill["components"])


def test_the_same_environment_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    for output in (first, second):
        assert run("sbom", "--output", str(output)).returncode == 0
    assert first.read_bytes() == second.read_bytes()
