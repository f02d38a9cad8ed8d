"""What the gateways under verification are started with, and where their output is."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

LOG: Final = ".stderr"
KEY: Final = "key-of-a-verification-0123456789"
_LAST_LINES: Final = 10
SILENT_SECONDS: Final = 300.0
"""How long a process may say nothing before it is given up. A slow one says how far it is."""
UNLIMITED: Final = {"GATEWAY_CALL_LIMITS": "false"}
"""Each example is called several times, which a limit of a tool may not allow."""
FROZEN: Final = {
    "GATEWAY_MOCK_TIME": "2026-11-20T12:00:00Z",
    "GATEWAY_MOCK_SPEED": "0",
    **UNLIMITED,
}
"""The time for which the contracts' examples are written: their dates are after it."""


class TransportFailed(Exception):
    """A transport could not be opened, or broke its protocol."""


class World(Struct, frozen=True):
    """The parameters of all transports in one verification."""

    folder: Path
    """An empty folder for the state of the processes."""
    upstreams: tuple[str, ...]
    """All of them are mocked: no real system is called."""
    served: Mapping[str, str]
    """The variables that select what to serve, from any source of settings."""

    def environment(self) -> dict[str, str]:
        """This environment, without the operator's settings except those in `served`.

        The processes run in another folder, so they get this process's import path. The project's
        own package is in the folder of the command.
        """
        plain = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
        mocked = {f"GATEWAY_BACKEND_{name.upper()}": "mock" for name in self.upstreams}
        return {
            **plain,
            **self.served,
            **mocked,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            **FROZEN,
            "GATEWAY_BOOTSTRAP_KEY": KEY,
            "GATEWAY_LOG_LEVEL": "error",
        }

    def last_words(self) -> list[str]:
        """The last lines of each process's standard error."""
        texts = (path.read_text("utf-8", "replace") for path in self.folder.glob(f"*{LOG}"))
        return [line for text in texts for line in text.splitlines()[-_LAST_LINES:]]
