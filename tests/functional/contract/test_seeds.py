"""`gateway test --seed` gives the same run again: the same calls and the same report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.gateway_process import run_gateway

OWN: Final = {"GATEWAY_SCHEMAS": ""}
ANSWER: Final = "    return CountOutput"
WRITTEN: Final = f"""    with open("calls.txt", "a") as calls:
        calls.write(ascii(arguments.text) + chr(10))
{ANSWER}"""


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name != "seconds"}
    return [*map(without_times, value)] if isinstance(value, list) else value


@pytest.mark.slow
def test_a_seed_gives_the_same_calls_and_the_same_report(
    new_initial: Callable[[Path], Path], tmp_path: Path
) -> None:
    project = new_initial(tmp_path / "project")
    run_gateway(project, "new", "tool", "notes.count", "--python", environment=OWN)
    handler = project / "handlers/notes/count.py"
    handler.write_text(handler.read_text("utf-8").replace(ANSWER, WRITTEN), "utf-8")
    run_gateway(project, "generate", environment=OWN)

    def tested(seed: str, hashes: str) -> tuple[Any, list[str]]:
        report, calls = tmp_path / "report.json", project / "calls.txt"
        calls.unlink(missing_ok=True)
        chosen = ("--seed", seed, "--report", str(report), "--", "-q", "-k", "accepted")
        run_gateway(project, "test", *chosen, environment={**OWN, "PYTHONHASHSEED": hashes})
        found = json.loads(report.read_text("utf-8"))
        return without_times(found), calls.read_text("utf-8").splitlines()

    one, again = tested("7", "1"), tested("7", "2")
    assert one == again
    assert one[0]["seed"] == 7
    assert {"store.find_products", "notes.count"} == {e["subject"] for e in one[0]["checks"]}
