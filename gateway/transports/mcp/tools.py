"""Tools for MCP callers: their list, and the results of calls."""

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from gateway.auth.authorize import Policy
from gateway.auth.principal import Credentials, Identification, Principal
from gateway.calls.asking import CapabilityMissing, InputRequired, InvalidAnswer, StateRefused
from gateway.calls.call import UNBOUNDED, Call, CallBounds, Invoke, Result
from gateway.calls.jobs.owned import OwnedJobs
from gateway.catalogue import Catalogue, Entry
from gateway.contract.agent_view import CALLING_TOOLS, CONTINUE_RESULT, OWN_TOOLS
from gateway.contract.operation import Effect
from gateway.errors import GatewayError, InvalidArguments, ReplacedTool
from gateway.publication.listed import checked_part, header_parameters
from gateway.publication.own_tools import Listable, Offer, OwnTool
from gateway.publication.view import NO_VIEWS, ShownNames, ToolView, Views
from gateway.transports.http.problems import Problem, log_failure, problem_of, release
from gateway.transports.http.senders import refuse
from gateway.transports.mcp.asking import Round, at_hand, conversed, question_of
from gateway.transports.mcp.caller import Caller, OfferedAccess, call_of, known
from gateway.transports.mcp.cancelling import CallsUnderWay, call_key
from gateway.transports.mcp.delivery import Deliveries, continuation_of
from gateway.transports.mcp.descriptions import ShownServers, ToolTexts, tool_name
from gateway.transports.mcp.jobs import JOB_KIND, CallersJobs, handle_of, jobs_of, task_result
from gateway.transports.mcp.own_tools import (
    CONTINUING_KIND,
    OpenOffer,
    OwnCall,
    OwnTools,
    read_arguments,
    search_kind,
)
from gateway.transports.mcp.protocol import ProtocolRevision
from gateway.transports.mcp.reporting import CallReporting

NO_ARGUMENTS = b"{}"


class Tools:
    """Lists and calls tools for MCP callers, with the policy and the pipeline of all transports."""

    def __init__(
        self,
        invoke: Invoke,
        identification: Identification,
        catalogue: Catalogue,
        policy: Policy,
        views: Views = NO_VIEWS,
        jobs: OwnedJobs | None = None,
    ) -> None:
        self._invoke = invoke
        self._identification = identification
        self._catalogue = catalogue
        self._policy = policy
        self._views = views
        self.names = ShownNames(catalogue, views.server_name)
        self._headers = header_parameters(catalogue.entries)
        self._texts = ToolTexts(self.names, headers=self._headers)
        self.servers = ShownServers(catalogue, policy)
        self._under_way = CallsUnderWay()
        self.reporting = CallReporting(catalogue, self.names)
        self._deliveries = Deliveries(catalogue, views)
        self._jobs = jobs
        self.offered: OfferedAccess | None = None
        """What is offered beside tools. None: nothing is."""
        self.has_tasks = jobs is not None and any(
            each.operation.task != "never" for each in catalogue.entries
        )
        """Whether calls may become jobs, and so tasks."""
        kinds = (search_kind(catalogue), CONTINUING_KIND)
        self._own = OwnTools(kinds if jobs is None else (*kinds, JOB_KIND))

    def offering(self, offered: OfferedAccess | None) -> "Tools":
        """These tools, with what is `offered` beside them."""
        self.offered = offered
        return self

    async def identify(self, credentials: Credentials) -> Principal:
        """The principal of these credentials. Raises `Unauthenticated`."""
        return await self._identification.identify(credentials)

    def may_call(self, principal: Principal) -> Callable[[str], bool]:
        """A function that returns whether this caller may call the operation with an id."""
        return partial(self._policy.allows, principal.agent)

    async def refuse(
        self, credentials: Credentials, endpoint: str, request_id: str, error: GatewayError
    ) -> NoReturn:
        """Write the audit record of an unauthenticated caller's request, and raise `error`."""
        call = Call(
            operation_id=endpoint,
            credentials=credentials,
            arguments=b"",
            transport="mcp",
            request_id=request_id,
        )
        await refuse(self._invoke, call, error)

    def view(self, principal: Principal, profile: str | None = None) -> ToolView:
        """How this caller sees its tools. `profile`: see `Views.of`."""
        return self._views.of(principal.agent, profile)

    def listed(self, caller: Caller) -> tuple[Listable, ...]:
        """What the list of this caller shows: own tools of the gateway too."""
        return self._offer(caller).listed

    def visible(self, caller: Caller) -> tuple[Entry, ...]:
        """The entries that this caller may call at its endpoint, ordered by tool name.

        Its client declares what their tools need.
        """
        found = (
            entry
            for entry in self._policy.visible(caller.principal, self._catalogue)
            if caller.connector in {None, entry.operation.connector} and not caller.lacks(entry)
        )
        return tuple(sorted(found, key=lambda entry: tool_name(entry, caller.connector)))

    async def texts(self, caller: Caller, revision: ProtocolRevision) -> list[bytes]:
        """The JSON texts of `listed`, as `revision` has them."""
        listed = self.listed(caller)
        return await self._texts.of(listed, caller.view, revision, caller.connector)

    def entry(self, name: str, connector: str | None = None) -> Entry | None:
        """The entry of the tool `name`: see `ShownNames.entry`."""
        return self.names.entry(name, connector)

    def cancel(self, caller: Caller, message_id: int | str) -> None:
        """Cancel the call that this caller made with the message `message_id`, if it still runs."""
        self._under_way.cancel(call_key(caller.principal.subject, caller.session, message_id))

    def header_schema(self, caller: Caller, name: str) -> dict[str, Any] | None:
        """The header parameters of the tool `name`. None if this caller has no such tool."""
        entry = self.entry(name, caller.connector) if self._headers else None
        if entry is None or not self._policy.allows(caller.principal.agent, entry.id):
            return None
        return checked_part(entry, self._headers)

    async def call(
        self,
        caller: Caller,
        name: str,
        arguments: bytes,
        message_id: int | str | None = None,
        bounds: CallBounds = UNBOUNDED,
    ) -> Result | Problem:
        """The result of calling the tool `name` with the JSON text `arguments`.

        `message_id` is the id of its message. Raises `CalledOff` when the caller cancels that.
        """
        key = call_key(caller.principal.subject, caller.session, message_id)
        with self._under_way.cancellable(key, caller.commitment):
            return await self._call(caller, name, arguments, bounds)

    async def _call(
        self, caller: Caller, name: str, arguments: bytes, bounds: CallBounds
    ) -> Result | Problem:
        this = Round(caller, name, arguments)
        try:
            caller = await self._at_hand(this, bounds)
            return await conversed(caller, partial(self._run, this, bounds))
        except InputRequired as error:
            return question_of(this, error)
        except Exception as error:  # noqa: BLE001 - the one edge of MCP calls
            log_failure(error, caller.request_id)
            problem = problem_of(error, caller.request_id)
            release(error)
            return problem

    async def _run(self, this: Round, bounds: CallBounds, caller: Caller) -> Result:
        name, arguments = this.tool, this.arguments
        if name in OWN_TOOLS and (tool := self._offer(caller).own.get(name)) is not None:
            return await self._call_own(tool, caller, arguments, bounds)
        return await self._direct(caller, bounds, name, arguments)

    async def _at_hand(self, this: Round, bounds: CallBounds) -> Caller:
        """The caller, with what it can be asked. Refuses what it repeats, with an audit record."""
        try:
            return at_hand(this)
        except (InvalidAnswer, StateRefused) as error:
            await self._refuse_own(this.tool[:128], this.caller, bounds, error)

    async def read(
        self, caller: Caller, operation_id: str, arguments: bytes, bounds: CallBounds
    ) -> Result:
        """The result of a read, for a resource that comes from it. Raises a `GatewayError`."""
        call = call_of(caller, operation_id, arguments, bounds, Effect.READ)
        return await self._invoke(call, None, known(caller))

    async def _direct(
        self,
        caller: Caller,
        bounds: CallBounds,
        name: str,
        arguments: bytes,
        effect: Effect | None = None,
    ) -> Result:
        entry = self.entry(name, caller.connector)
        # No operation id has a colon. So the pipeline refuses and records an unknown name.
        operation = f"mcp:{name[:128]}" if entry is None else entry.id
        if entry is not None and self._policy.allows(caller.principal.agent, entry.id):
            await self._require_client(caller, entry, bounds)
        deliver = partial(self._deliveries.fit, caller, operation, arguments, None)
        call = call_of(caller, operation, arguments, bounds, effect, deliver)
        return await self._invoked(caller, call, self._replacement(caller, name))

    def _replacement(self, caller: Caller, name: str) -> ReplacedTool | None:
        """The refusal of a tool that is gone, for callers that may call its successor."""
        found = self.names.successor(name, caller.connector)
        is_granted = found and self._policy.allows(caller.principal.agent, found.id)
        return ReplacedTool.by(found.operation, name) if found and is_granted else None

    async def _require_client(self, caller: Caller, entry: Entry, bounds: CallBounds) -> None:
        """Refuse the call, with its audit record, unless the client can do what the tool needs."""
        lacking = caller.lacks(entry)
        if lacking:
            call = call_of(caller, entry.id, NO_ARGUMENTS, bounds)
            await self._invoke(call, CapabilityMissing(lacking), known(caller))

    async def _invoked(
        self, caller: Caller, call: Call, refusal: ReplacedTool | None = None
    ) -> Result:
        result = await self._invoke(call, refusal, known(caller))
        return result if result.job_id is None else await self._of_job(caller, result)

    async def _resume(self, caller: Caller, bounds: CallBounds, text: str) -> Result:
        """The part of a result that the continuation `text` names. The call is made again."""
        try:
            start = continuation_of(text, caller.credentials.bearer, caller.connector)
        except InvalidArguments as error:
            await self._refuse_own(CONTINUE_RESULT, caller, bounds, error)
        arguments = start.arguments.encode()
        # The seal is of a read. The effect says so again, for grants that have changed since.
        deliver = partial(self._deliveries.fit, caller, start.operation, arguments, start)
        call = call_of(caller, start.operation, arguments, bounds, Effect.READ, deliver)
        return await self._invoked(caller, call)

    async def _of_job(self, caller: Caller, result: Result) -> Result:
        """The result of a call that became a job, as the client of `caller` knows it."""
        jobs = self.jobs_of(caller) if caller.takes_tasks else None
        if jobs is None or result.job_id is None:
            return handle_of(result)
        return task_result(await jobs.made(result))

    def jobs_of(self, caller: Caller) -> CallersJobs | None:
        """The jobs of the caller. None if no call becomes a job."""
        owned = self._jobs
        return None if owned is None else jobs_of(owned, caller, partial(self._kept, caller))

    def _kept(self, caller: Caller, operation_id: str, result: Result) -> Result:
        """`result`, which a job has kept, as this caller is sent it."""
        fit = self._deliveries.fit
        return fit(caller, operation_id, NO_ARGUMENTS, None, result, is_of_job=True)

    async def _call_own(
        self, tool: OwnTool, caller: Caller, arguments: bytes, bounds: CallBounds
    ) -> Result:
        name = tool.tool.name
        try:
            values = read_arguments(tool, arguments)
        except GatewayError as error:
            if name in CALLING_TOOLS:
                await self._refuse_own(name, caller, bounds, error)
            raise
        call = OwnCall(
            offer=self._offer(caller).offer,
            values=values,
            text=arguments,
            bounds=bounds,
            direct=partial(self._direct, caller, bounds),
            resume=partial(self._resume, caller, bounds),
            jobs=self.jobs_of(caller),
        )
        return await self._own.run(name)(call)

    async def _refuse_own(
        self, name: str, caller: Caller, bounds: CallBounds, error: GatewayError
    ) -> NoReturn:
        """Write the audit record of a call that the own tool `name` cannot make. Raises `error`."""
        # No operation id has a colon. The call has none: its arguments do not say which.
        await self._invoke(call_of(caller, f"mcp:{name}", b"", bounds), error, known(caller))
        raise AssertionError("a call that is refused was run")

    def _offer(self, caller: Caller) -> OpenOffer:
        """What this caller is offered. Grants do not change while these tools are served."""
        key = caller.principal.agent, caller.connector, caller.view, caller.declared
        return self._own.kept(key, partial(self._offer_to, caller))

    def _offer_to(self, caller: Caller) -> Offer:
        return Offer(
            entries=self.visible(caller),
            connector=caller.connector,
            view=caller.view,
        )
