"""The environment of a measurement."""

import importlib.metadata
import os
import platform
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from peer import FASTMCP
from processes import can_pin

_PACKAGES: Final = ("mcp", "litestar", "aiohttp", "uvicorn", "uvloop", "msgspec", "jsonschema_rs")


def description() -> dict[str, Any]:
    """The command, date, machine and versions."""
    return {
        "command": shlex.join(["python", *sys.orig_argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.platform()}",
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "pinning": "server on core 0; upstream and load generator on core 1"
        if can_pin()
        else "none: the server shares its core with the load",
        "versions": {
            **{name: importlib.metadata.version(name) for name in _PACKAGES},
            "fastmcp": FASTMCP.version,
        },
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())
