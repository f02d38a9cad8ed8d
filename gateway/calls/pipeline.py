"""The only path to a backend. Read `invoke` from top to bottom to see what the gateway does."""

from dataclasses import dataclass

from gateway.audit.log import AuditLog, OpenRecord
from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification, Permit, Principal
from gateway.calls.admission.places import Admission
from gateway.calls.admission.unlimited import NO_LIMITS, CountsCalls
from gateway.calls.caching.reads import ReadCache
from gateway.calls.call import Arguments, Call, Result
from gateway.calls.dispatch import Dispatcher
from gateway.calls.effects import refuse_key, require_effect, require_possible_effect
from gateway.calls.hooks import NO_HOOKS, CallHooks
from gateway.calls.idempotency.once import Once, Repeatable
from gateway.calls.validation import check_result, decode_arguments, reduce_result
from gateway.catalogue import Catalogue
from gateway.contract.operation import Effect


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
        async with self.audit.open(call) as record:
            record.principal = principal
            if refusal is not None:
                raise refusal
            if principal is None:
                principal = record.principal = await self.identification.identify(call.credentials)
            entry = self.catalogue.find(call.operation_id)
            grant = self.policy.authorize(principal, entry)
            record.entry = entry
            require_possible_effect(call, entry.operation)
            with self.admission.admit(grant) as permit:
                arguments = record.arguments = decode_arguments(permit, call.arguments)
                self.policy.authorize_effect(permit, arguments.effect)
                require_effect(call, arguments.effect)
                record.backend = self.dispatcher.backend_of(entry.operation)
                if call.accept is not None:
                    result = await call.accept(permit, arguments)
                elif arguments.effect is Effect.READ:
                    refuse_key(call)
                    result = await self._observed(permit, arguments, call)
                else:
                    result = await self._write(permit, arguments, call, record)
                record.hidden_characters = result.hidden_characters
            return result if call.deliver is None else call.deliver(result)

    async def _write(
        self, permit: Permit, arguments: Arguments, call: Call, record: OpenRecord
    ) -> Result:
        """Run a call that may change something. It is recorded before it has an effect."""
        await record.begin()
        call.commit()
        key = call.bounds.idempotency_key
        if key is None or call.job_id is not None:
            return await self._observed(permit, arguments, call)
        keyed = Repeatable(id=record.id, key=key, permit=permit, arguments=arguments)
        return await self.once.answer(keyed, lambda: self._observed(permit, arguments, call))

    async def _observed(self, permit: Permit, arguments: Arguments, call: Call) -> Result:
        async with self.limits.counted(permit, arguments.effect, call):
            return await self.hooks.around(
                permit.entry.id, arguments.given, lambda: self._answer(permit, arguments, call)
            )

    async def _answer(self, permit: Permit, arguments: Arguments, call: Call) -> Result:
        # A failure that is caused by one caller's own limit must not reach other callers.
        is_shared = not call.bounds.are_lower
        result = await self.cache.answer(
            permit, arguments, lambda: self._run(permit, arguments, call), is_shared=is_shared
        )
        # The complete result is checked and kept. So all selections share one answer.
        return result if arguments.selection is None else reduce_result(result, arguments.selection)

    async def _run(self, permit: Permit, arguments: Arguments, call: Call) -> Result:
        return check_result(permit, await self.dispatcher.dispatch(permit, arguments, call))
