"""Load for ingest: like `load.py`, but every message is new and signed."""

import hmac
import os
import sys
import time
from collections.abc import Iterator
from itertools import count

import load
import msgspec
import uvloop
from load import Job, Pace, Tally

_HEAD = (
    "POST /webhooks/avinode HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "User-Agent: bench\r\nX-Avinode-Timestamp: {at}\r\nX-Avinode-Signature: sha256={signature}\r\n"
    "Content-Length: {length}\r\n\r\n"
)


class MessageJob(Job, frozen=True, kw_only=True):
    """`request` is the body, with `EVENT_ID` as the placeholder for the id."""

    secret: str
    prefix: str
    """The prefix of ids, so that no two jobs send the same message."""


class Sender(load.Connection):
    """A connection whose requests are messages. The expected status is 202."""

    def __init__(self, job: MessageJob, tally: Tally, pace: Pace, ids: Iterator[int]) -> None:
        super().__init__(job, tally, pace)
        self._message = job
        self._ids = ids

    def send(self, due: float) -> None:
        """Send a message that was due at `due`."""
        self._since = due
        if self._transport is not None:
            self._transport.write(message(self._message, next(self._ids)))

    def on_message_complete(self) -> None:
        self._tally.count(self._since, is_good=self._parser.get_status_code() == 202)
        self._pace.free(self)


def message(job: MessageJob, number: int) -> bytes:
    """One request."""
    at = int(time.time())
    body = job.request.replace(b"EVENT_ID", f"{job.prefix}-{number}".encode())
    signature = hmac.digest(job.secret.encode(), b"%d.%b" % (at, body), "sha256").hex()
    return _HEAD.format(at=at, signature=signature, length=len(body)).encode() + body


def main() -> None:
    """Run the job from standard input."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=MessageJob)
    if job.cpu is not None:
        os.sched_setaffinity(0, {job.cpu})
    ids = count()
    figures = uvloop.run(load.run(job, lambda tally, pace: Sender(job, tally, pace, ids)))
    sys.stdout.buffer.write(msgspec.json.encode(figures))


if __name__ == "__main__":
    main()
