"""`scripts/same.py`: a checkout is as itself, and a changed word is found."""

import json
import shutil
import subprocess
import sys

from tests.gateway_process import REPOSITORY


def compared(older, newer, part):
    """Of one part: the exit status, and how many records there are and which differ."""
    command = [sys.executable, "scripts/same.py", older, newer, "--only", part, "--json"]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.stdout, ended.stderr
    return ended.returncode, json.loads(ended.stdout)[part]


def test_a_checkout_is_as_itself():
    status, found = compared(REPOSITORY, REPOSITORY, "webhooks")
    assert found["differences"] == {}
    assert found["compared"] > 200
    assert status == 0


def test_a_changed_word_of_an_error_is_found_on_every_transport(tmp_path):
    for name in ("gateway", "generated"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    path = tmp_path / "gateway" / "errors.py"
    text = path.read_text()
    old = "do not match the tool's input schema"
    assert old in text
    path.write_text(text.replace(old, "do not fit the tool's input schema"))
    status, found = compared(REPOSITORY, tmp_path, "calls")
    assert status == 1
    transports = {name.rpartition(" ")[2] for name in found["differences"]}
    assert transports >= {"rest", "stdio", "2026-07-28", "2025-11-25"}
