"""The one path to a backend. Read `invoke` top to bottom: that is what the gateway does."""

from dataclasses import dataclass

from gateway.audit import AuditLog
from gateway.auth.authorize import Policy
from gateway.auth.principal import Identification, Permit
from gateway.calls.admission import Admission
from gateway.calls.cache import ReadCache
from gateway.calls.call import Arguments, Call, Result
from gateway.calls.dispatch import Dispatcher
from gateway.calls.validation import check_result, decode_arguments
from gateway.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything a call passes, in the order in which it passes it."""

    identification: Identification
    catalogue: Catalogue
    policy: Policy
    admission: Admission
    cache: ReadCache
    dispatcher: Dispatcher
    audit: AuditLog

    async def invoke(self, call: Call, refusal: BaseException | None = None) -> Result:
        """Run one call. Exactly one audit record is left, whatever happens.

        Raises a `GatewayError`; each transport maps it at its edge. `refusal` is why a transport
        could not read the call: once the caller is known, it is raised, and nothing is run.
        """
        async with self.audit.open(call) as record:
            principal = record.principal = await self.identification.identify(call.credentials)
            if refusal is not None:
                raise refusal
            entry = self.catalogue.find(call.operation_id)
            grant = self.policy.authorize(principal, entry)
            record.entry = entry
            with self.admission.admit(grant) as permit:
                arguments = record.arguments = decode_arguments(permit, call.arguments)
                self.policy.authorize_effect(permit, arguments.effect)
                record.backend = self.dispatcher.backend_of(entry.operation)
                return await self.cache.answer(
                    permit, arguments, lambda: self._run(permit, arguments, call)
                )

    async def _run(self, permit: Permit, arguments: Arguments, call: Call) -> Result:
        outcome = await self.dispatcher.dispatch(permit, arguments, call)
        return check_result(permit, outcome)
