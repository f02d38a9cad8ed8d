"""The jobs of a key at a remote gateway, over REST."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import quote, urlencode

import httpx2
import msgspec
from msgspec import Meta, Struct

from gateway.cli.elsewhere.options import checked_url
from gateway.cli.refused import Refused
from gateway.cli.remote import RemoteAnswer, answer_of, ask_once, no_answer, no_gateway
from gateway.contract.values import jsontext
from gateway.transports.http.problem_kinds import ADVICE

_JOBS: Final = "/v1/jobs"
_MAX_PAGE: Final = 200
_DATA: Final = b"data: "
_STREAM: Final = {"accept": "text/event-stream"}
_STREAM_TIMEOUT: Final = httpx2.Timeout(10.0, read=60.0)
"""The gateway says something every 15 s."""
_Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]
ENDED: Final = frozenset({"succeeded", "failed", "cancelled"})


class JobSteps(Struct, frozen=True):
    """How far a job is."""

    done: float
    message: str


class RemoteJob(Struct, frozen=True, kw_only=True):
    """What people read of a job. All texts are of the gateway: escape them for a terminal."""

    id: str
    operation: str
    status: Literal["queued", "running", "input_required", "succeeded", "failed", "cancelled"]
    created_at: _Moment
    updated_at: _Moment
    expires_at: _Moment | None = None
    progress: JobSteps | None = None

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED


class JobsClient:
    """Asks one gateway for jobs.

    Everything raises `Refused` for a problem, and `ConfigurationError` if no gateway responds.
    """

    def __init__(self, url: str, client: httpx2.Client) -> None:
        self._base = checked_url(url)
        self._client = client

    def pages(self) -> Iterator[dict[str, Any]]:
        """All jobs, newest first, as JSON objects."""
        after: str | None = None
        while True:
            query = {"limit": str(_MAX_PAGE)} | ({} if after is None else {"after": after})
            page = self._ask("GET", f"{_JOBS}?{urlencode(query)}")
            items, last = page.get("items"), page.get("next")
            if not isinstance(items, list) or not isinstance(last, str | None):
                raise no_gateway(self._base)
            yield from items
            # A page that does not go on would be asked for without an end.
            if last is None or last == after:
                return
            after = last

    def show(self, job_id: str) -> dict[str, Any]:
        """The job as a JSON object."""
        return self._ask("GET", _path(job_id))

    def cancel(self, job_id: str) -> dict[str, Any]:
        """Cancel the job. Returns what it is now."""
        return self._ask("POST", f"{_path(job_id)}/cancel")

    def result(self, job_id: str) -> RemoteAnswer:
        """What the tool would have answered, also a problem, which is not raised."""
        return ask_once(self._client, self._base, "GET", f"{_path(job_id)}/result")

    def follow(self, job_id: str) -> Iterator[RemoteJob]:
        """The job, and again whenever it has changed, until the stream ends."""
        url = f"{self._base}{_path(job_id)}/events"
        try:
            with self._client.stream("GET", url, headers=_STREAM, timeout=_STREAM_TIMEOUT) as reply:
                if not reply.headers.get("content-type", "").startswith(_STREAM["accept"]):
                    reply.read()
                    self._object(answer_of(self._base, reply))
                    raise no_gateway(self._base)
                for line in _lines(reply.iter_bytes()):
                    if line.startswith(_DATA):
                        yield self._job_of(line.removeprefix(_DATA))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise no_answer(self._base, error) from None

    def job_of(self, value: Mapping[str, Any]) -> RemoteJob:
        """`value` as a job."""
        try:
            return msgspec.convert(value, RemoteJob)
        except msgspec.ValidationError:
            raise no_gateway(self._base) from None

    def _job_of(self, text: bytes) -> RemoteJob:
        try:
            return msgspec.json.decode(text, type=RemoteJob)
        except msgspec.DecodeError:
            raise no_gateway(self._base) from None

    def _ask(self, method: str, path: str) -> dict[str, Any]:
        return self._object(ask_once(self._client, self._base, method, path))

    def _object(self, answer: RemoteAnswer) -> dict[str, Any]:
        value: dict[str, Any] = jsontext.decode(answer.text)
        if not answer.is_result:
            raise Refused(value, ADVICE.get(str(value.get("type")), ""))
        return value


def _path(job_id: str) -> str:
    return f"{_JOBS}/{quote(job_id, safe='', errors='surrogateescape')}"


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Complete lines. Those of httpx would also end at line ends of Unicode, inside of JSON."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
