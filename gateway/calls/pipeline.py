"""The only path to a backend. Read `invoke` from top to bottom to see what the gateway does."""

from dataclasses import dataclass
from functools import partial

from gateway.audit.log import AuditLog, OpenRecord
from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification, Permit, Principal
from gateway.calls.caching.reads import ReadCache
from gateway.calls.call import Arguments, Begin, Call, Result
from gateway.calls.dispatch import Dispatcher
from gateway.calls.effects import require_client, require_effect, require_possible_effect
from gateway.calls.hooks import NO_HOOKS, CallHooks
from gateway.calls.idempotency import Once, Repeatable
from gateway.calls.validation import checked, delivered, read_arguments, reduced
from gateway.catalogue import Catalogue
from gateway.contract.operation import Effect
from gateway.limits.counting import NO_LIMITS, CountsCalls
from gateway.limits.places import Admission


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages of a call, in their order."""

    identification: Identification
    catalogue: Catalogue
    policy: Policy
    admission: Admission
    cache: ReadCache
    dispatcher: Dispatcher
    audit: AuditLog
    once: Once
    hooks: CallHooks = NO_HOOKS
    limits: CountsCalls = NO_LIMITS

    async def invoke(
        self,
        call: Call,
        refusal: BaseException | None = None,
        principal: Principal | None = None,
    ) -> Result:
        """Run one call. A call of a known caller leaves exactly one audit record, in all cases.

        Raises a `GatewayError`. A transport that has identified its caller passes `principal`. One
        that could not, or could not read the call, passes the error: it is recorded and raised.
        """
        async with self.audit.open(call, call.job_id, call.commitment) as record:
            record.principal = principal
            if refusal is not None:
                raise refusal
            if principal is None:
                principal = record.principal = await self.identification.identify(call.credentials)
            entry = self.catalogue.find(call.operation_id)
            grant = self.policy.authorize(principal, entry)
            record.entry = entry
            require_client(call, entry)
            require_possible_effect(call, entry.operation)
            with self.admission.admit(grant) as permit:
                arguments = record.arguments = await read_arguments(permit, call.arguments)
                self.policy.authorize_arguments(grant, arguments.values, arguments.effect)
                require_effect(call, arguments.effect)
                record.backend = self.dispatcher.backend_of(entry.operation)
                if call.accept is not None:
                    result = await call.accept(permit, arguments)
                elif arguments.effect is Effect.READ:
                    result = await self._observed(permit, arguments, call)
                else:
                    result = await self._write(permit, arguments, call, record)
                record.result = result
            return await delivered(result, call.deliver)

    async def _write(
        self, permit: Permit, arguments: Arguments, call: Call, record: OpenRecord
    ) -> Result:
        """Run a call that may change something. It is recorded before it has an effect."""
        write = partial(self._observed, permit, arguments, call, record.begin)
        if (key := call.own_key) is None:
            return await write()
        keyed = Repeatable(record.id, key, permit, arguments, call.commitment)
        return await self.once.answer(keyed, write)

    async def _observed(
        self, permit: Permit, arguments: Arguments, call: Call, begin: Begin | None = None
    ) -> Result:
        async with self.limits.counted(permit, arguments.effect, call) as count:
            if begin is not None:
                await call.commit(begin, count.undo)
            async with self.hooks.around(permit.entry.id, arguments.given):
                run = partial(self._run, permit, arguments, call)
                result = await self.cache.answer(permit, arguments, run, is_shared=call.is_shared)
                # The complete result is checked and kept. So all selections share one answer.
                return self.dispatcher.marked(await reduced(result, arguments.selection), permit)

    async def _run(self, permit: Permit, arguments: Arguments, call: Call) -> Result:
        outcome = await self.dispatcher.dispatch(permit, arguments, call)
        return await checked(permit, outcome, arguments.effect)
