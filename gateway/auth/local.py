"""The caller in the same process: it owns the data folder, so it proves nothing more."""

from typing import Final

from gateway.auth.principal import Credentials, Principal

LOCAL_SUBJECT: Final = "local"


class LocalIdentification:
    """Everybody is the local caller, acting as one agent. Never given to a network transport."""

    def __init__(self, agent: str) -> None:
        self._principal = Principal(subject=LOCAL_SUBJECT, agent=agent)

    async def identify(self, credentials: Credentials) -> Principal:  # noqa: ARG002 - the Protocol's name
        return self._principal
