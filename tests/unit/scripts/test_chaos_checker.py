"""The checker refuses evidence that was damaged by hand: one case for each thing it looks at.

The database is made here, column by column, as little as the checker reads: neither it nor this
test knows the gateway's code.
"""

import hashlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

CHECKER = Path(__file__).resolve().parents[3] / "scripts" / "chaos" / "checker.py"
BODY = b'{"event_type": "quote_received"}'
SHA256 = hashlib.sha256(BODY).hexdigest()
TABLES = """
CREATE TABLE webhooks (id, provider, message_id, event_type, body, body_sha256, is_conflict,
                       derived_from, job_id);
CREATE TABLE webhook_keys (provider, message_id, body_sha256, webhook_id);
CREATE TABLE jobs (id, kind, subject, state, attempts, max_attempts, run_at, lease_until,
                   claim_seq, error, replay_of);
CREATE TABLE job_attempts (job_id, claim_seq, outcome);
CREATE TABLE events (id, position, type, subject, webhook_id);
CREATE TABLE audit_records (request_id, operation, outcome, transport);
CREATE TABLE entity_quotes (id, avinode_quote_id, webhook_id);
CREATE TABLE deliveries (id, event_id, endpoint_id, job_id);
"""


class Scene:
    """A database and logs in which everything holds, until a test damages them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "gateway.db"
        self.sent = [{"id": f"m{n}", "sha256": SHA256, "status": 202} for n in range(5)]
        self.received = [
            {"id": f"e{n}", "sha256": "aa", "is_authentic": True, "status": 200} for n in range(5)
        ]
        self.seen = [{"follower": 1, "id": f"e{n}"} for n in range(5)]
        with closing(sqlite3.connect(self.database)) as made:
            made.executescript(TABLES)
            for number in range(5):
                _add_message(made, number)
            made.commit()

    def run(self, statement: str) -> None:
        with closing(sqlite3.connect(self.database)) as opened:
            opened.execute(statement)
            opened.commit()

    def verdict(self) -> tuple[int, dict]:
        names = []
        for name in ("sent", "received", "seen"):
            path = self.folder / f"{name}.jsonl"
            path.write_text("".join(json.dumps(line) + "\n" for line in getattr(self, name)))
            names.append(path)
        sent, received, seen = names
        done = subprocess.run(
            [
                *(sys.executable, str(CHECKER), str(sent), f"sqlite:///{self.database}"),
                *("--received", str(received), "--seen", str(seen), "--quiet", "--json"),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


def _add_message(made: sqlite3.Connection, number: int) -> None:
    now = time.time_ns() // 1000
    webhook, job, event, delivery = f"w{number}", f"j{number}", f"e{number}", f"d{number}"
    rows = {
        "webhooks": (
            *(webhook, "avinode", f"m{number}", "quote_received"),
            *(BODY, SHA256, False, None, job),
        ),
        "webhook_keys": ("avinode", f"m{number}", SHA256, webhook),
        "jobs": (job, "webhook", webhook, "completed", 1, 6, now, None, 1, None, None),
        "job_attempts": (job, 1, "completed"),
        "events": (event, number + 1, "gateway.quote.received.v1", f"q-m{number}", webhook),
        "audit_records": (webhook, "avinode.quote_received", "ok", "webhook"),
        "entity_quotes": (f"row{number}", f"q-m{number}", webhook),
        "deliveries": (delivery, event, "endpoint", f"{job}-delivery"),
    }
    for table, row in rows.items():
        made.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - its own tables
    sent = (f"{job}-delivery", "delivery", delivery, "completed", 1, 10, now, None, 1, None, None)
    made.execute(f"INSERT INTO jobs VALUES ({', '.join('?' * len(sent))})", sent)  # noqa: S608 - its own tables
    made.execute("INSERT INTO job_attempts VALUES (?, 1, 'completed')", (f"{job}-delivery",))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_healthy_evidence_is_accepted(scene: Scene) -> None:
    status, verdict = scene.verdict()
    assert (status, verdict["broken"], verdict["findings"]) == (0, {}, [])
    assert (verdict["census"]["accepted"], verdict["census"]["completed"]) == (5, 5)


DAMAGED_TABLES = {
    "an accepted message is gone": (
        "I1",
        "DELETE FROM webhooks WHERE id = 'w1'",
    ),
    "an accepted message is stored with another body": (
        "I1",
        "UPDATE webhooks SET body = X'00' WHERE id = 'w1'",
    ),
    "an event is missing": ("I2", "DELETE FROM events WHERE id = 'e4'"),
    "an event was published twice": (
        "I2",
        "INSERT INTO events VALUES ('e9', 6, 'gateway.quote.received.v1', 'q-m1', 'w1')",
    ),
    "an effect was applied twice": (
        "I2",
        "INSERT INTO audit_records VALUES ('w1', 'avinode.quote_received', 'ok', 'webhook')",
    ),
    "a row is missing": ("I2", "DELETE FROM entity_quotes WHERE webhook_id = 'w1'"),
    "an effect without a completed job": (
        "I2",
        "UPDATE jobs SET state = 'retryable' WHERE id = 'j1'",
    ),
    "a claim of a dead worker": (
        "I3",
        "UPDATE jobs SET state = 'processing', lease_until = 1 WHERE id = 'j1'",
    ),
    "a claim without a lease": (
        "I3",
        "UPDATE jobs SET state = 'processing', lease_until = NULL WHERE id = 'j1'",
    ),
    "a job that nobody runs": (
        "I4",
        "UPDATE jobs SET state = 'pending', run_at = 1 WHERE id = 'j1'",
    ),
    "a job in no known state": ("I4", "UPDATE jobs SET state = 'lost' WHERE id = 'j1'"),
    "an event that is delivered twice to one endpoint": (
        "I5",
        "INSERT INTO deliveries VALUES ('d9', 'e1', 'endpoint', 'j1-delivery')",
    ),
    "a gap in the log": ("I6", "UPDATE events SET position = 9 WHERE position = 5"),
    "a place that is taken twice": ("I6", "UPDATE events SET position = 4 WHERE position = 5"),
    "an event without a place": ("I6", "UPDATE events SET position = NULL WHERE position = 5"),
    "too many attempts": ("I7", "UPDATE jobs SET attempts = 7 WHERE id = 'j1'"),
    "a dead letter before its time": (
        "I7",
        "UPDATE jobs SET state = 'dead_letter', error = 'lease_expired' WHERE id = 'j1'",
    ),
    "a job that was completed twice": (
        "I7",
        "INSERT INTO job_attempts VALUES ('j1', 2, 'completed')",
    ),
    "a message without a job": ("I9", "DELETE FROM jobs WHERE id = 'j1'"),
    "a message from nowhere": (
        "I9",
        "INSERT INTO webhooks VALUES ('w9', 'avinode', 'm9', 'other', X'00', 'bb', 0, NULL, 'j9')",
    ),
    "a message with two first jobs": (
        "I9",
        "INSERT INTO jobs VALUES ('j9', 'webhook', 'w1', 'cancelled', 1, 6, 1, 0, 1, NULL, NULL)",
    ),
    "a message that is stored twice": (
        "I10",
        "INSERT INTO webhooks VALUES ('w9', 'avinode', 'm1', 'other', X'00', 'bb', 0, NULL, 'j1')",
    ),
}


@pytest.mark.parametrize("damage", DAMAGED_TABLES)
def test_a_damaged_database_is_refused(scene: Scene, damage: str) -> None:
    invariant, statement = DAMAGED_TABLES[damage]
    scene.run(statement)
    status, verdict = scene.verdict()
    assert status == 1
    assert invariant in verdict["broken"], verdict


def _answer_500(scene: Scene) -> None:
    scene.sent.append({"id": "m1", "sha256": SHA256, "status": 500})


def _new_twice(scene: Scene) -> None:
    scene.sent.append({"id": "m1", "sha256": SHA256, "status": 202})


def _duplicate_of_nothing(scene: Scene) -> None:
    scene.sent[1]["status"] = 200


def _forge_a_delivery(scene: Scene) -> None:
    scene.received[1]["is_authentic"] = False


def _lose_a_delivery(scene: Scene) -> None:
    del scene.received[1]


def _change_a_delivery(scene: Scene) -> None:
    scene.received.append({**scene.received[1], "sha256": "bb"})


def _skip_an_event(scene: Scene) -> None:
    del scene.seen[2]


def _repeat_an_event(scene: Scene) -> None:
    scene.seen.insert(2, scene.seen[1])


def _show_another_event(scene: Scene) -> None:
    scene.seen[2]["id"] = "e9"


DAMAGED_LOGS: list[tuple[str, Callable[[Scene], None]]] = [
    ("I1", _answer_500),
    ("I10", _new_twice),
    ("I10", _duplicate_of_nothing),
    ("I5", _forge_a_delivery),
    ("I5", _lose_a_delivery),
    ("I5", _change_a_delivery),
    ("I6", _skip_an_event),
    ("I6", _repeat_an_event),
    ("I6", _show_another_event),
]


@pytest.mark.parametrize(("invariant", "damage"), DAMAGED_LOGS)
def test_a_damaged_log_is_refused(
    scene: Scene, invariant: str, damage: Callable[[Scene], None]
) -> None:
    damage(scene)
    status, verdict = scene.verdict()
    assert status == 1
    assert invariant in verdict["broken"], verdict


def test_an_unanswered_request_may_be_stored_or_not(scene: Scene) -> None:
    scene.sent[1]["status"] = None
    scene.sent.append({"id": "m1", "sha256": SHA256, "status": 200})
    scene.sent.append({"id": "m9", "sha256": SHA256, "status": None})
    assert scene.verdict()[0] == 0


def test_a_file_that_is_torn_is_refused(scene: Scene) -> None:
    scene.run("CREATE INDEX by_state ON jobs (state)")
    with closing(sqlite3.connect(scene.database)) as opened:
        size = opened.execute("PRAGMA page_size").fetchone()[0]
        page = opened.execute("SELECT rootpage FROM sqlite_master WHERE name = 'by_state'")
        start = (page.fetchone()[0] - 1) * size
    torn = bytearray(scene.database.read_bytes())
    torn[start + 8 : start + size] = bytes(size - 8)
    scene.database.write_bytes(torn)
    status, verdict = scene.verdict()
    assert status == 1
    assert "integrity" in verdict["broken"]


def test_evidence_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "sent.jsonl").touch()
    done = subprocess.run(
        [sys.executable, str(CHECKER), str(tmp_path / "sent.jsonl"), "sqlite:////nowhere.db"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "fix: " in done.stderr


def test_the_checker_shares_no_code_with_the_gateway() -> None:
    for name in ("checker.py", "evidence.py", "invariants.py"):
        text = CHECKER.with_name(name).read_text()
        assert "import gateway" not in text
        assert "from gateway" not in text
        assert "generated" not in text
