"""The bill of materials and the advisory check as their callers start them."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY

PIP = "pip==26.3 --hash=sha256:" + "0" * 64


def run(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(REPOSITORY / "scripts" / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


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
    """And the same environment gives the same bytes."""
    output, again = tmp_path / "folder" / "sbom.json", tmp_path / "again.json"
    for each in (output, again):
        done = run("sbom", "--output", str(each))
        assert done.returncode == 0, done.stderr
    assert output.read_bytes() == again.read_bytes()
    bill = json.loads(output.read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "contract-gateway"
    scopes = {each["name"].lower(): each["scope"] for each in bill["components"]}
    assert {scopes[name] for name in ("litestar", "asyncpg", "cryptography")} == {"required"}
    assert {scopes[name] for name in ("pytest", "mypy", "sphinx", "pip")} == {"excluded"}
    assert all(each["version"] and each["purl"] for each in bill["components"])
