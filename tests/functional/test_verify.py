"""`gateway verify`: the whole catalogue through the doors of real processes."""

import json

import pytest

from tests.gateway_process import run_gateway


@pytest.mark.slow
def test_every_tool_answers_alike_at_every_door(tmp_path) -> None:
    verdicts = json.loads(run_gateway(tmp_path, "verify", "--connectors", "--json", environment={}))

    made_by_the_reader_of_the_readme = {"avinode.airport_names"}
    assert len({each["operation"] for each in verdicts} - made_by_the_reader_of_the_readme) == 46
    for verdict in verdicts:
        assert verdict["failures"] == []
        assert set(verdict["verified"].values()) == {verdict["examples"]}
        assert verdict["examples"] >= 2
