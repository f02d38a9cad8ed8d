"""One row for each kind of job, and a policy of one's own."""

from pathlib import Path

from gateway.app import Gateway
from gateway.job_policy import WORK_POLICY
from gateway.settings import Settings, read_settings
from gateway.store.sql.engine import open_store
from tests.work import job, message, put


def test_claims_outlive_their_signs_of_life():
    for row in WORK_POLICY.jobs.values():
        assert 5 * row.heartbeat_seconds < row.holding_seconds < row.lease_seconds


def test_nothing_is_kept_for_less_long_than_its_payload():
    for row in WORK_POLICY.jobs.values():
        assert row.payload_days <= row.retention_days


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
    gateway.work_by(WORK_POLICY.in_each_row(attempts=2))
    async with gateway:
        [webhook] = await put(gateway.parts.store, message())
        assert (await job(gateway.parts.store, webhook)).max_attempts == 2
