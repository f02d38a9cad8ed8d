"""The invariants of the evidence, with their numbers in the test plan.

Each function yields its violations.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from evidence import Evidence, Row, digest
from msgspec import Struct

ENDED: Final = frozenset({"completed", "dead_letter", "cancelled"})
RESTING: Final = ENDED | {"quarantined"}
STATES: Final = RESTING | {"pending", "processing", "retryable"}
ACCEPTED: Final = frozenset({200, 202})
ADMITTED: Final = ACCEPTED | {409, 429, 503, None}
"""The allowed statuses for an authentic message."""
QUOTE_EVENT: Final = "gateway.quote.received.v1"
_SECOND: Final = 1_000_000


class Tolerance(Struct, frozen=True, kw_only=True):
    """The tolerances of the invariants."""

    margin: float = 7.0
    """Seconds after the end of a lease (sweep and margin), and after a job is due."""
    is_quiet: bool = False
    """Whether no job may be waiting or running."""


class Finding(Struct, frozen=True):
    """A violation of an invariant."""

    invariant: str
    detail: str


Check = Callable[[Evidence, Tolerance], Iterator[str]]


def i1_accepted_is_stored(evidence: Evidence, _tolerance: Tolerance) -> Iterator[str]:
    """A message that was answered with 2xx is stored, byte for byte."""
    stored = {
        (row["message_id"], row["body_sha256"]): row["body"] for row in evidence.tables["webhooks"]
    }
    for key in {(each.id, each.sha256) for each in evidence.sent if each.status in ACCEPTED}:
        if key not in stored:
            yield f"{key[0]} was accepted and is not stored"
        elif stored[key] is not None and digest(bytes(stored[key])) != key[1]:
            yield f"{key[0]} is stored with another body than its hash says"
    for status in {each.status for each in evidence.sent} - ADMITTED:
        yield f"an authentic message was answered {status}"


def i2_effects_once(evidence: Evidence, _tolerance: Tolerance) -> Iterator[str]:
    """Each message has its row, its event and its record exactly once, or none of them."""
    rows = Counter(row["webhook_id"] for row in evidence.tables["quotes"])
    records = Counter(
        row["request_id"] for row in evidence.tables["audit"] if row["outcome"] == "ok"
    )
    events = Counter(
        (row["webhook_id"], row["type"]) for row in evidence.tables["events"] if row["webhook_id"]
    )
    yield from (f"{number} events {key}" for key, number in events.items() if number > 1)
    runs = _runs(evidence)
    for webhook in evidence.tables["webhooks"]:
        if webhook["event_type"] != "quote_received" or webhook["is_conflict"]:
            continue
        done = runs[webhook["id"]]["completed"]
        found = (
            rows[webhook["id"]],
            events[webhook["id"], QUOTE_EVENT],
            records[webhook["id"]],
        )
        if found != (min(done, 1), min(done, 1), done):
            name = webhook["message_id"]
            yield f"{name} is completed {done} times: (rows, events, records) {found}"
    for stray in set(records) - set(runs):
        yield f"a record of {stray}, which nobody sent"


def i3_no_dead_lease(evidence: Evidence, tolerance: Tolerance) -> Iterator[str]:
    """No claim outlives its lease by more than a sweep."""
    for job in evidence.tables["jobs"]:
        if (job["state"] == "processing") != (job["lease_until"] is not None):
            yield f"job {job['id']} is {job['state']} with lease {job['lease_until']}"
        elif job["lease_until"] is not None:
            late = (evidence.now - job["lease_until"]) / _SECOND
            if late > tolerance.margin:
                yield f"job {job['id']} is processing, {late:.1f} s after its lease has ended"


def i4_ends_or_goes_on(evidence: Evidence, tolerance: Tolerance) -> Iterator[str]:
    """Each job has ended, or waits for a time in the future."""
    for job in evidence.tables["jobs"]:
        if job["state"] not in STATES:
            yield f"job {job['id']} is {job['state']}, which is no state"
        if job["state"] in {"pending", "retryable"}:
            late = (evidence.now - job["run_at"]) / _SECOND
            if late > tolerance.margin:
                yield f"job {job['id']} is {job['state']} and overdue by {late:.1f} s"
        if tolerance.is_quiet and job["state"] not in RESTING and job["kind"] != "delivery":
            yield f"job {job['id']} is {job['state']} when all should be quiet"


def i5_delivered(evidence: Evidence, _tolerance: Tolerance) -> Iterator[str]:
    """Each event is delivered once to each endpoint, authentic and unchanged."""
    pairs = Counter((row["event_id"], row["endpoint_id"]) for row in evidence.tables["deliveries"])
    yield from (f"{number} deliveries of {pair}" for pair, number in pairs.items() if number > 1)
    if evidence.received is None:
        return
    states = {row["id"]: row["state"] for row in evidence.tables["jobs"]}
    bodies: defaultdict[str, set[str]] = defaultdict(set)
    good: set[str] = set()
    for each in evidence.received:
        if not each.is_authentic:
            yield f"{each.id} came with a wrong signature"
        bodies[each.id].add(each.sha256)
        if 200 <= each.status < 300:
            good.add(each.id)
    yield from (
        f"{key} came with {len(found)} bodies" for key, found in bodies.items() if len(found) > 1
    )
    for row in evidence.tables["deliveries"]:
        if states.get(row["job_id"]) == "completed" and row["event_id"] not in good:
            yield f"delivery {row['id']} is completed, and its endpoint never took it"


def i6_followed(evidence: Evidence, tolerance: Tolerance) -> Iterator[str]:
    """The log has no gap and no duplicate position, and neither have the events of a follower."""
    placed = [row["position"] for row in evidence.tables["events"] if row["position"] is not None]
    places = sorted(placed)
    if len(set(places)) != len(places):
        yield "a position is taken twice"
    elif places and places != list(range(places[0], places[0] + len(places))):
        yield f"positions {places[0]} to {places[-1]} have gaps"
    if tolerance.is_quiet and len(placed) < len(evidence.tables["events"]):
        yield f"{len(evidence.tables['events']) - len(placed)} events have no position"
    position_of = {row["id"]: row["position"] for row in evidence.tables["events"]}
    last: dict[int, int] = {}
    for each in evidence.seen or ():
        position = position_of.get(each.id)
        if position is None:
            yield f"follower {each.follower} saw {each.id}, which is not in the log"
            continue
        if each.follower in last and position != last[each.follower] + 1:
            yield f"follower {each.follower} saw {position} after {last[each.follower]}"
        last[each.follower] = position


def i7_attempts_bounded(evidence: Evidence, _tolerance: Tolerance) -> Iterator[str]:
    """No job exceeds its attempts, and none becomes a dead letter before its last one."""
    endings = Counter(
        row["job_id"] for row in evidence.tables["attempts"] if row["outcome"] == "completed"
    )
    for job in evidence.tables["jobs"]:
        if job["attempts"] > job["max_attempts"]:
            yield f"job {job['id']} had {job['attempts']} of {job['max_attempts']} attempts"
        is_exhausted = job["attempts"] >= job["max_attempts"]
        if job["state"] == "dead_letter" and job["error"] == "lease_expired" and not is_exhausted:
            yield f"job {job['id']} is a dead letter after {job['attempts']} attempts"
        if endings[job["id"]] != (job["state"] == "completed"):
            yield f"job {job['id']} is {job['state']} and was completed {endings[job['id']]} times"


def i9_conserved(evidence: Evidence, _tolerance: Tolerance) -> Iterator[str]:
    """Each stored message was sent, and has exactly one first job."""
    runs = _runs(evidence)
    webhooks = {row["id"]: row for row in evidence.tables["webhooks"]}
    for webhook in webhooks.values():
        if not runs[webhook["id"]]:
            yield f"{webhook['message_id']} is stored and has no job"
        is_known = (webhook["message_id"], webhook["body_sha256"]) in evidence.begun
        if not is_known and webhook["derived_from"] is None:
            yield f"{webhook['message_id']} is stored and was never sent"
    for subject in set(runs) - set(webhooks):
        yield f"a job for {subject}, which is not stored"
    firsts = Counter(
        row["subject"]
        for row in evidence.tables["jobs"]
        if row["kind"] == "webhook" and row["replay_of"] is None
    )
    yield from (f"{key} has {number} first jobs" for key, number in firsts.items() if number > 1)


def i10_stored_once(evidence: Evidence, _tolerance: Tolerance) -> Iterator[str]:
    """Each message is stored once: new at most once, and a duplicate only after that."""
    stored = Counter(
        (row["provider"], row["message_id"])
        for row in evidence.tables["webhooks"]
        if not row["is_conflict"]
    )
    yield from (f"{key} is stored {number} times" for key, number in stored.items() if number > 1)
    answers: defaultdict[str, list[int | None]] = defaultdict(list)
    for each in evidence.sent:
        answers[each.id].append(each.status)
    for key, statuses in answers.items():
        if statuses.count(202) > 1:
            yield f"{key} was new {statuses.count(202)} times"
        if 200 in statuses and not {202, 503, None} & set(statuses):
            yield f"{key} was a duplicate of nothing"


def engine_is_whole(evidence: Evidence, _tolerance: Tolerance) -> Iterator[str]:
    """The database passes its own integrity check."""
    yield from evidence.damage


CHECKS: Final[dict[str, Check]] = {
    "I1": i1_accepted_is_stored,
    "I2": i2_effects_once,
    "I3": i3_no_dead_lease,
    "I4": i4_ends_or_goes_on,
    "I5": i5_delivered,
    "I6": i6_followed,
    "I7": i7_attempts_bounded,
    "I9": i9_conserved,
    "I10": i10_stored_once,
    "integrity": engine_is_whole,
}


def check_all(evidence: Evidence, tolerance: Tolerance) -> list[Finding]:
    """All findings."""
    return [
        Finding(name, detail)
        for name, check in CHECKS.items()
        for detail in check(evidence, tolerance)
    ]


def census(evidence: Evidence) -> dict[str, int]:
    """The figures: accepted messages, and the states of all jobs."""
    accepted = {each.id for each in evidence.sent if each.status in ACCEPTED}
    of_message = {row["id"]: row["message_id"] for row in evidence.tables["webhooks"]}
    jobs: Sequence[Row] = [row for row in evidence.tables["jobs"] if row["kind"] == "webhook"]
    states = Counter(row["state"] for row in jobs if of_message.get(row["subject"]) in accepted)
    live = sum(number for state, number in states.items() if state not in RESTING)
    return {
        "requests": len(evidence.sent),
        "without_answer": sum(each.status is None for each in evidence.sent),
        "accepted": len(accepted),
        **{state: states[state] for state in sorted(RESTING)},
        "live": live,
        "events": len(evidence.tables["events"]),
        "deliveries": len(evidence.tables["deliveries"]),
        "leases_expired": sum(
            row["outcome"] == "lease_expired" for row in evidence.tables["attempts"]
        ),
    }


def _runs(evidence: Evidence) -> defaultdict[str, Counter[str]]:
    """The number of each webhook's jobs by state. Each replay adds a job."""
    runs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for job in evidence.tables["jobs"]:
        if job["kind"] == "webhook":
            runs[job["subject"]][job["state"]] += 1
    return runs
