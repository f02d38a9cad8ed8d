"""Sixteen known bugs of queues and webhooks, as changes to this gateway's source text.

Each names the file, the text that must occur in it exactly once, its replacement, and the tests of
which at least one must fail then.
"""

from typing import Final

from msgspec import Struct


class Bug(Struct, frozen=True):
    """A bug to insert."""

    name: str
    path: str
    was: str
    becomes: str
    tests: tuple[str, ...]


_QUEUE: Final = "tests/conformance/test_queue.py"
_INBOX: Final = "tests/conformance/test_inbox.py"
_LOG: Final = "tests/conformance/test_event_log.py"
_STORE_FAILURES: Final = "tests/conformance/test_store_failures.py"
_ENGINE: Final = "tests/unit/store/sql/test_engine.py"
_GROUP_COMMIT: Final = "tests/unit/webhooks/test_group_commit.py"
_BACKOFF: Final = "tests/unit/jobs/test_backoff.py"
_WORKER: Final = "tests/unit/jobs/test_worker.py"
_REFUSALS: Final = "tests/interaction/test_webhook_refusals.py"

BUGS: Final = (
    Bug(
        "no fence: a job is finished by any worker that once had it",
        "gateway/store/sql/jobs/rows.py",
        "shown = and_(JOBS.c.id == job.id, JOBS.c.claim_seq == job.claim_seq)",
        "shown = and_(JOBS.c.id == job.id)",
        (_QUEUE,),
    ),
    Bug(
        "no reclaim: the naive claim, whose rows stay `processing` for ever",
        "gateway/store/sql/messaging/transitions.py",
        "jobs_where(CLAIMED, JOBS.c.lease_until < now)",
        "jobs_where(CLAIMED, JOBS.c.lease_until < now - timedelta(days=365))",
        (_QUEUE,),
    ),
    Bug(
        "acknowledged before the commit",
        "gateway/webhooks/group_commit.py",
        "        return await waiting.answer()\n",
        '        return Receipt(outcome="stored", webhook_id="0")\n',
        (_GROUP_COMMIT,),
    ),
    Bug(
        "check, then insert: two at the same moment both pass",
        "gateway/store/sql/messaging/receiving.py",
        "    free = await _KEYS.add("
        "connection, [_key_row(*each, now) for each in candidates.items()])\n",
        "    keys = select(WEBHOOK_KEYS.c.provider, WEBHOOK_KEYS.c.message_id)\n"
        "    there = {tuple(row) for row in (await connection.execute(keys)).all()}\n"
        "    new = [_key_row(k, each, now) for k, each in candidates.items() if k not in there]\n"
        "    if new:\n"
        "        await connection.execute(WEBHOOK_KEYS.insert(), new)\n"
        '    free = {row["webhook_id"] for row in new}\n',
        (_INBOX,),
    ),
    Bug(
        "BEGIN instead of BEGIN IMMEDIATE",
        "gateway/store/sql/sqlite/file.py",
        "        connection.exec_driver_sql(begin)\n",
        '        connection.exec_driver_sql("BEGIN")\n',
        (_STORE_FAILURES, _ENGINE, "tests/conformance/test_store.py"),
    ),
    Bug(
        "attempts counted when they fail, not when they begin",
        "gateway/store/sql/messaging/claiming.py",
        "        attempts=JOBS.c.attempts + 1,\n",
        "",
        (_QUEUE,),
    ),
    Bug(
        "effects in a separate transaction",
        "gateway/store/sql/messaging/queue.py",
        "            await apply_changes(connection, self._target, changes, now)\n",
        "            await self._database.write(\n"
        "                lambda to, then: apply_changes(to, self._target, changes, then)\n"
        "            ) if self._database.is_postgres else await apply_changes(\n"
        "                connection, self._target, changes, now\n"
        "            )\n",
        (_QUEUE,),
    ),
    Bug(
        "the cursor is a sequence, whose numbers commit out of order",
        "gateway/store/sql/messaging/event_log.py",
        ".values(position=newest + numbered.c.number)",
        ".values(position=EVENTS.c.seq + 0 * newest)",
        (_LOG,),
    ),
    Bug(
        "no jitter",
        "gateway/job_policy.py",
        "jitter: tuple[float, float] = (0.8, 1.2)",
        "jitter: tuple[float, float] = (1.0, 1.0)",
        (_BACKOFF,),
    ),
    Bug(
        "Retry-After without a bound",
        "gateway/jobs/backoff.py",
        "min(max(asked_seconds, base), 2 * base)",
        "max(asked_seconds, base)",
        (_BACKOFF,),
    ),
    Bug(
        "verified after it was parsed",
        "gateway/webhooks/ingest.py",
        "        profile = source.authenticate(fields, body, self._clock.now().timestamp())\n",
        "        read_message(source.contract.profiles[0], fields, body)\n"
        "        profile = source.authenticate(fields, body, self._clock.now().timestamp())\n",
        (_REFUSALS, "tests/interaction/test_webhooks.py"),
    ),
    Bug(
        "a forged message burns the id of an authentic one",
        "gateway/webhooks/ingest.py",
        "            raise UnauthenticatedMessage(challenge=source.challenge)\n",
        "            forged = read_message(source.contract.profiles[0], fields, body)\n"
        '            await_ids = self.__dict__.setdefault("burned", set())\n'
        "            await_ids.add(forged.id)\n"
        "            raise UnauthenticatedMessage(challenge=source.challenge)\n"
        '        if read_message(profile, fields, body).id in self.__dict__.get("burned", ()):\n'
        "            raise ConflictingMessage\n",
        (_REFUSALS, "tests/interaction/test_webhooks.py"),
    ),
    Bug(
        "synchronous = NORMAL: what is committed may be rolled back after a power loss",
        "gateway/store/sql/sqlite/file.py",
        '"PRAGMA synchronous = FULL"',
        '"PRAGMA synchronous = NORMAL"',
        (_ENGINE, _STORE_FAILURES),
    ),
    Bug(
        "a redrive changes the old job in place",
        "gateway/store/sql/messaging/redriving.py",
        "    await connection.execute(JOBS.insert(), row)\n"
        '    return await _found(connection, str(row["id"]))\n',
        '    again = {"state": "pending", "run_at": now, "attempts": 0, "replay_of": job.id}\n'
        "    await connection.execute(update(JOBS).where(JOBS.c.id == job.id).values(again))\n"
        "    return await _found(connection, job.id)\n",
        (_QUEUE,),
    ),
    Bug(
        "work is found only after a notification",
        "gateway/jobs/fetcher.py",
        "await _wait(self._work_may_be_there, self._poll_seconds)",
        "await self._work_may_be_there.wait()",
        (_WORKER,),
    ),
    Bug(
        "a commit that failed is answered as if it had not",
        "gateway/webhooks/group_commit.py",
        "        _refuse(group)\n        return False\n",
        '        lie = Receipt(outcome="stored", webhook_id="0")\n'
        "        for waiting in group:\n"
        "            waiting.give(lie)\n"
        "        return False\n",
        (_GROUP_COMMIT,),
    ),
)
