"""`gateway verify`: the whole catalogue through the transports of real processes.

test_own_project.py verifies a project of somebody's own, with the wheel.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from tests.gateway_process import ended_gateway, run_gateway


@pytest.mark.slow
def test_every_tool_answers_alike_at_every_transport(tmp_path: Path) -> None:
    """The command as the tour prints it, with the table as its output."""
    printed = run_gateway(tmp_path, "verify")

    _heading, *rows, summary = printed.splitlines()
    assert re.fullmatch(r"(\d+) of \1 tools verified over 4 transports, \d+ calls", summary)
    found = {operation: counts for operation, *counts in (row.split() for row in rows)}
    assert found.keys() == {
        tool.id for tool in open_catalogue("generated", HANDLER_PACKAGES).entries
    }
    for counts in found.values():
        [verified] = set(counts[:4])
        number, _, examples = verified.partition("/")
        assert number == examples
        assert int(examples) >= 2


def test_what_a_process_printed_that_does_not_start_is_shown(
    new_initial: Callable[[Path], Path], tmp_path: Path
) -> None:
    project = new_initial(tmp_path / "project")
    # Python imports this module when it starts, if it is on the path that the processes get.
    fails = "import sys\nif 'serve' in sys.orig_argv:\n    sys.exit('a canary \\x1b[31m')\n"
    (project / "sitecustomize.py").write_text(fails, "utf-8")
    own = {"GATEWAY_SCHEMAS": ""}
    code, _, error = ended_gateway(project, "verify", "--connector", "store", environment=own)
    assert code == 2
    assert "a canary \\x1b[31m" in error
    assert "error: REST: the gateway ended unasked after: starting" in error
    assert "fix: see its output above" in error
    assert "Event loop is closed" not in error


def test_one_process_serves_all_of_http(
    new_initial: Callable[[Path], Path], tmp_path: Path
) -> None:
    project = new_initial(tmp_path / "project")
    # Each process under verification notes its start.
    notes = (
        "import sys\n"
        "if 'gateway.testing.process' in sys.orig_argv:\n"
        f"    with open({str(tmp_path / 'notes')!r}, 'a') as file:\n"
        "        file.write('serve ' if 'serve' in sys.orig_argv else 'stdio ')\n"
    )
    (project / "sitecustomize.py").write_text(notes, "utf-8")
    own = {"GATEWAY_SCHEMAS": ""}
    code, out, error = ended_gateway(project, "verify", environment=own)
    assert code == 0
    assert re.fullmatch(r"[0-9.]+ s, at most [0-9]+ MB in one process\n", error)
    assert "1 of 1 tool verified over 4 transports" in out
    assert (tmp_path / "notes").read_text("utf-8").split() == ["serve", "stdio"]
