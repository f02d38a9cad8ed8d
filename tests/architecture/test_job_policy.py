"""How often, how long and how many: in one table with a row for each kind of job."""

import ast
import re
from pathlib import PurePosixPath
from typing import Final, get_args

from gateway.job_policy import WORK_POLICY, JobKind

TABLE: Final = "gateway/job_policy.py"
ROOMS: Final = {"app", "cli", "events", "jobs", "store", "webhooks"}
"""Where jobs are made, processed and kept."""
WORDS: Final = re.compile(
    r"ATTEMPTS|BACKOFF|LEASE|LANE_SHARE|RETENTION|SCHEDULE|SLOTS|CRASH|BUSY_WAIT|SWEEP_SECONDS"
)
MEMBERS: Final = frozenset(WORK_POLICY.jobs["webhook"].__struct_fields__)


def figures(sources):
    """Each constant of a module, and each default of a class, that is a figure of the table."""
    return [
        f"{source.path}:{node.lineno} {name}"
        for source in sources
        if source.path != TABLE and PurePosixPath(source.path).parts[1] in ROOMS
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for name in _names(node)
        if (WORDS.search(name) or name in MEMBERS) and _is_figure(node.value)
    ]


def _names(node):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_figure(value):
    """Whether it is made of numbers, and of nothing that the table names."""
    numbers = [
        each
        for each in ast.walk(value)
        if isinstance(each, ast.Constant) and type(each.value) in {int, float}
    ]
    return bool(numbers) and "WORK_POLICY" not in ast.unparse(value)


def test_each_kind_of_job_has_a_row():
    assert set(WORK_POLICY.jobs) == set(get_args(JobKind))


def test_the_figures_stand_in_the_table_alone(written):
    assert figures([each for each in written if each.path.startswith("gateway/")]) == []


def test_each_of_these_mistakes_is_found(planted):
    path = "gateway/jobs/planted.py"
    for mistake in (
        "MAX_ATTEMPTS: Final = {'webhook': 6}\n",
        "_LEASE: Final = timedelta(seconds=30)\n",
        "class Config:\n    lease_seconds: float = 30.0\n",
        "def room():\n    slots = 8\n",
    ):
        assert figures(planted(mistake, path=path)), mistake
    assert figures(planted("slots = 8\n", path="gateway/limits/planted.py")) == []
    assert figures(planted("slots = row.slots * policy.size\n", path=path)) == []
    assert figures(planted("LEASE_EXPIRED: Final = 'lease_expired'\n", path=path)) == []
