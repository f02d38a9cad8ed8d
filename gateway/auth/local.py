"""Identifies callers in the same process. They can read the data folder, so they need no key."""

from typing import Final

from gateway.auth.principal import Credentials, Principal

LOCAL_SUBJECT: Final = "local"


class LocalIdentification:
    """Identifies every caller as the local one, acting as one agent. Not for network transports."""

    def __init__(self, agent: str) -> None:
        self._principal = Principal(subject=LOCAL_SUBJECT, agent=agent)

    async def identify(self, credentials: Credentials) -> Principal:  # noqa: ARG002 - the Protocol's name
        return self._principal
