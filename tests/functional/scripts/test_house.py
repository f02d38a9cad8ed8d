"""`scripts/house.py` counts what is there."""

import json
import subprocess
import sys

from tests.gateway_process import REPOSITORY


def test_the_house_and_a_call_are_counted():
    command = [sys.executable, "scripts/house.py", "--json"]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    files = list((REPOSITORY / "gateway").rglob("*.py"))
    assert found["size"]["files"] == len(files)
    assert found["size"]["lines"] == sum(path.read_text().count("\n") for path in files)
    waiting = found["call"]["waiting"]
    assert waiting[0].startswith("gateway/transports/http/edge.py")
    assert waiting[-1].startswith("gateway/backends/http/")
    local = found["call"]["example.calculate"]
    assert local["calls of functions"] >= local["functions"] >= local["files"] > 10
