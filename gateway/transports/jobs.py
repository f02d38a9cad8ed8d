"""`/v1/jobs`: the jobs of the caller, with their results."""

from contextlib import aclosing
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gateway.auth.principal import Identification, Principal
from gateway.calls.call import Call, Invoke
from gateway.calls.jobs.owned import MAX_PAGE, JobRequest, JobView, OwnedJobs
from gateway.contract.operation import JOBS
from gateway.errors import (
    GatewayError,
    InvalidArguments,
    MalformedRequest,
    MethodNotAllowed,
    UnknownPath,
)
from gateway.store.records import Page
from gateway.transports.events import EVENT_STREAM, StreamAnswer
from gateway.transports.http.asgi import (
    JSON,
    ClientGone,
    Receive,
    Scope,
    Send,
    header_values,
    read_body,
    request_id_of,
    respond,
)
from gateway.transports.http.call_headers import KEY_HEADER
from gateway.transports.http.connected import while_connected
from gateway.transports.http.content import parameters_of, require_accept
from gateway.transports.http.problems import send_problem
from gateway.transports.http.senders import authenticate, refuse, sender_of, shown_credentials
from gateway.transports.results import send_blocks, send_result

_PATH: Final = f"/v1/{JOBS}".encode()
_READ: Final = ("GET", "HEAD", "OPTIONS")
_CANCEL: Final = ("POST", "OPTIONS")
_DEFAULT_PAGE: Final = 50
_Limit: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_PAGE)]
_RETRY: Final = (b"retry-after", b"1")
"""For jobs that go on."""


class JobEndpoint:
    """Serves the list of jobs, one job, its result, and its cancellation.

    Reads that succeed leave no audit record: programs poll. Refusals of unauthenticated callers and
    cancellations do.
    """

    def __init__(
        self,
        owned: OwnedJobs,
        identification: Identification,
        invoke: Invoke,
        with_blocks: frozenset[str],
    ) -> None:
        """`invoke` records requests with an invalid key. `with_blocks`: see `RestParts`."""
        self._with_blocks = with_blocks
        self._owned = owned
        self._identification = identification
        self._invoke = invoke

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises only when it is cancelled."""
        try:
            job_id, verb = _named(scope)
            allow = _CANCEL if verb == "cancel" else _READ
            if scope["method"] == "OPTIONS":
                await respond(send, 204, b"", headers=[(b"allow", ", ".join(allow).encode())])
                return
            principal = await self._admit(verb, scope, allow)
            if verb == "events" and job_id is not None:
                _page(scope, is_list=False)
                watching = self._watch(principal, job_id, scope, send)
                await while_connected(watching, receive, scope)
                return
            await self._answer(principal, job_id, verb, scope, receive, send)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - this transport's single edge
            await send_problem(send, error, request_id_of(scope))

    async def _admit(self, verb: str, scope: Scope, allow: tuple[str, ...]) -> Principal:
        credentials = shown_credentials(scope)
        try:
            principal = await authenticate(self._identification, credentials, sender_of(scope))
        except GatewayError as error:
            call = Call(
                operation_id=f"{JOBS}.{verb}",
                credentials=credentials,
                arguments=b"",
                transport="rest",
                request_id=request_id_of(scope),
            )
            await refuse(self._invoke, call, error)
        if scope["method"] not in allow:
            raise MethodNotAllowed(allow=allow)
        return principal

    async def _watch(self, principal: Principal, job_id: str, scope: Scope, send: Send) -> None:
        """Send the job as an event whenever it has changed, until it has ended."""
        require_accept(scope, EVENT_STREAM)
        answer = StreamAnswer(send)
        credentials = shown_credentials(scope)
        try:
            async with aclosing(self._owned.watch(principal, job_id)) as views:
                async for view in views:
                    await answer.say(_event(view))
                    if view is None:
                        # The key may have been revoked meanwhile.
                        await self._identification.identify(credentials)
                    elif scope["method"] == "HEAD":
                        break
            await answer.end()
        except Exception as error:  # noqa: BLE001 - a stream that has begun cannot become a problem
            await answer.fail(error, request_id_of(scope))

    async def _answer(
        self,
        principal: Principal,
        job_id: str | None,
        verb: str,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        if header_values(scope, KEY_HEADER):
            raise MalformedRequest("Requests for jobs take no Idempotency-Key.")
        page = _page(scope, is_list=job_id is None)
        if job_id is None:
            require_accept(scope, JSON.decode())
            items = await self._owned.list(principal, page)
            after = items[-1].id if len(items) == page.limit else None
            await respond(send, 200, msgspec.json.encode({"items": items, "next": after}))
        elif verb == "result":
            result = await self._owned.result(principal, job_id)
            if (await self._owned.show(principal, job_id)).operation in self._with_blocks:
                await send_blocks(scope, send, result, [])
            else:
                await send_result(scope, send, result, [])
        else:
            require_accept(scope, JSON.decode())
            if verb == "cancel":
                await _require_no_body(receive)
                asked = JobRequest(
                    request_id=request_id_of(scope),
                    operation_id=f"{JOBS}.{verb}",
                    transport="rest",
                )
                view = await self._owned.cancel(principal, job_id, asked)
            else:
                view = await self._owned.show(principal, job_id)
            headers = [] if view.has_ended else [_RETRY]
            await respond(send, 200, msgspec.json.encode(view), headers=headers)


def is_for_jobs(scope: Scope) -> bool:
    """Whether the path of the request is that of the jobs, or below it."""
    path: bytes = scope["raw_path"]
    return path == _PATH or path.startswith(_PATH + b"/")


def _named(scope: Scope) -> tuple[str | None, str]:
    """The job that the path names, and what is asked of it. Raises `UnknownPath`."""
    # A router changes the path in the scope, and does not change the raw one.
    path = scope["raw_path"].removeprefix(_PATH).decode("latin-1").strip("/")
    job_id, _, verb = path.partition("/")
    if not job_id:
        return None, "list"
    if verb not in {"", "result", "cancel", "events"}:
        raise UnknownPath
    return job_id, verb or "show"


def _event(view: JobView | None) -> bytes:
    if view is None:
        return b": still going on\n\n"
    return b"event: job\ndata: %b\n\n" % msgspec.json.encode(view)


async def _require_no_body(receive: Receive) -> None:
    if (await read_body(receive)).strip() not in {b"", b"{}"}:
        raise MalformedRequest("A cancellation has no body.")


def _page(scope: Scope, *, is_list: bool) -> Page:
    """The page that the query asks for. Raises `CallerError`."""
    known = frozenset({"limit", "after"}) if is_list else frozenset()
    given = parameters_of(scope["query_string"], known)
    try:
        limit = msgspec.convert(given.get("limit", _DEFAULT_PAGE), _Limit, strict=False)
    except msgspec.ValidationError:
        detail = f"is not a number from 1 to {MAX_PAGE}"
        raise InvalidArguments.at("/limit", "maximum", detail) from None
    after = given.get("after")
    if after is not None and not (after.isprintable() and 1 <= len(after) <= 64):
        raise InvalidArguments.at("/after", "pattern", "is not the id of a job")
    return Page(limit, after)
