"""What runs in continuous integration is pinned, may write nothing, and has time to end."""

import re
from typing import Any, Final

import pytest
import yaml

PINNED: Final = re.compile(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40}$")
VERSION: Final = re.compile(r"uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
CI_MINUTES: Final = 25
"""What `.ci/run` may take on two cores that others use too."""


@pytest.fixture(scope="module")
def workflows(root):
    """Each workflow's text."""
    found = sorted((root / ".github" / "workflows").glob("*.y*ml"))
    assert found
    return {file.name: file.read_text("utf-8") for file in found}


def unpinned(workflow: dict[str, Any]) -> list[str]:
    """Each action that a tag or a branch names: anyone who moves it runs code here."""
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
    named = [job["uses"] for job in workflow["jobs"].values() if "uses" in job]
    used = [*named, *(step["uses"] for step in steps if "uses" in step)]
    return [action for action in used if not PINNED.match(action)]


def test_actions_are_pinned_by_digest(workflows):
    assert [each for text in workflows.values() for each in unpinned(yaml.safe_load(text))] == []


def test_each_digest_says_which_version_it_is(workflows):
    lines = [line for text in workflows.values() for line in text.splitlines() if "uses:" in line]
    assert lines
    assert [line for line in lines if not VERSION.search(line)] == []


def test_workflows_may_only_read(workflows):
    for name, text in workflows.items():
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}, name


def test_the_limit_leaves_room_for_what_the_script_may_take(workflows):
    for text in workflows.values():
        for job in yaml.safe_load(text)["jobs"].values():
            assert job["timeout-minutes"] >= CI_MINUTES * 1.5


@pytest.mark.parametrize("action", ["actions/checkout@v4", "actions/checkout@main", "./local"])
def test_an_action_by_tag_is_found(action):
    assert unpinned({"jobs": {"check": {"steps": [{"uses": action}]}}}) == [action]
    assert unpinned({"jobs": {"check": {"uses": action}}}) == [action]
