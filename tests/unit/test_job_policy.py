"""One row for each kind of job, and a policy of one's own."""

from pathlib import Path
from typing import Final

import pytest

from gateway.app import Gateway
from gateway.job_policy import LONGEST_HEARTBEAT_SECONDS, WORK_POLICY
from gateway.settings import Settings, read_settings
from gateway.store.sql.engine import open_store
from tests.work import job, message, put

DOCS: Final = Path(__file__).parents[2] / "docs"


def test_claims_outlive_their_signs_of_life():
    for row in WORK_POLICY.jobs.values():
        assert 5 * row.heartbeat_seconds < row.holding_seconds < row.lease_seconds


def test_nothing_is_kept_for_less_long_than_its_payload():
    for row in WORK_POLICY.jobs.values():
        assert row.payload_days is None or row.payload_days <= row.retention_days


def test_a_lease_that_is_extended_too_rarely_is_refused():
    """After the wait for a heartbeat, the extension may take as long again."""
    with pytest.raises(ValueError, match="a lease of 181 s is extended too rarely"):
        WORK_POLICY.in_each_row(lease_seconds=181.0)
    for row in WORK_POLICY.in_each_row(lease_seconds=180.0).jobs.values():
        assert 2 * row.heartbeat_seconds <= LONGEST_HEARTBEAT_SECONDS


def test_waits_are_written_down_for_every_attempt():
    for row in WORK_POLICY.jobs.values():
        assert len(row.waits_seconds) == row.attempts - 1


def test_a_policy_of_ones_own_leaves_the_shipped_one_as_it_is():
    own = WORK_POLICY.in_each_row(lease_seconds=1.0)
    assert {row.lease_seconds for row in own.jobs.values()} == {1.0}
    assert {row.lease_seconds for row in WORK_POLICY.jobs.values()} == {30.0}


def test_the_settings_have_their_defaults_from_the_table():
    settings, rows = Settings(), WORK_POLICY.jobs
    assert settings.workers == WORK_POLICY.size
    assert settings.webhook_days == rows["webhook"].payload_days
    assert settings.webhook_id_days == rows["webhook"].retention_days
    # One setting for both.
    assert settings.job_days == rows["call"].retention_days == rows["delivery"].retention_days


async def test_the_store_makes_jobs_by_the_policy_that_it_is_given():
    store = await open_store("memory:", policy=WORK_POLICY.in_each_row(attempts=2))
    [webhook] = await put(store, message())
    assert (await job(store, webhook)).max_attempts == 2
    await store.close()


async def test_a_gateway_works_by_the_policy_that_it_is_given(tmp_path: Path):
    gateway = Gateway.open(
        read_settings({"GATEWAY_DATABASE_URL": "memory:"}, None, {"data": tmp_path})
    )
    gateway.set_work_policy(WORK_POLICY.in_each_row(attempts=2))
    async with gateway:
        [webhook] = await put(gateway.parts.store, message())
        assert (await job(gateway.parts.store, webhook)).max_attempts == 2


def _in_words(seconds: float) -> str:
    """A duration as the pages write it: `5 s`, `30 min`, `2 h`."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:g} {unit}"
    return f"{seconds:g} s"


def test_the_pages_say_what_the_policy_is():
    webhook, delivery = WORK_POLICY.jobs["webhook"], WORK_POLICY.jobs["delivery"]
    *earlier, last = map(_in_words, delivery.waits_seconds)
    assert f"after {', '.join(earlier)} and {last}, " in page("call/events.md")
    *most, longest = (f"{seconds / 60:g}" for seconds in webhook.waits_seconds)
    assert f"about {', '.join(most)} and {longest} minutes" in page("author/webhooks.md")
    lease, sweep = _in_words(webhook.lease_seconds), _in_words(WORK_POLICY.sweep_seconds)
    assert f"the lease ({lease}) has expired and a sweep (every {sweep})" in page(
        "operate/scale.md"
    )
    guarantees = page("explanation/guarantees.md")
    assert (
        f"its lease of {lease} has ended and the next sweep has run (one every {sweep})"
        in guarantees
    )
    assert f"its call takes over {WORK_POLICY.jobs['call'].timeout_seconds:g} s" in guarantees
    assert delivery.lane_share == 4
    assert "at most a quarter of a worker's running deliveries" in page("call/events.md")


def page(path: str) -> str:
    """A page of the documentation, without its line ends."""
    return " ".join((DOCS / path).read_text("utf-8").split())
