"""Serves a project, reloads it several times, and prints how many catalogues were in memory then.

The arguments are the data folder and the number of reloads.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakSet

import httpx

from gateway.__main__ import main
from gateway.catalogue import Catalogue
from tests.eventually import PATIENCE_SECONDS

DATA, RELOADS = Path(sys.argv[1]), int(sys.argv[2])
FILE = DATA / "processes" / f"{os.getpid()}.json"
opened: WeakSet[Catalogue] = WeakSet()
opened_before = Catalogue.__init__


def note(self: Catalogue, *parts: object, **named: object) -> None:
    opened.add(self)
    opened_before(self, *parts, **named)  # type: ignore[arg-type]  # as it was called


def verdict() -> dict[str, Any]:
    return json.loads(FILE.read_text())["verdict"] or {}


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)


def reload() -> int:
    """The number of catalogues in memory after a reload, when the one before has had its time."""
    asked = time.monotonic()
    os.kill(os.getpid(), signal.SIGHUP)
    until(lambda: verdict().get("began", 0) >= asked)
    assert verdict()["problem"] is None
    until(lambda: len(opened) == 1)
    return len(opened)


def reload_all() -> None:
    until(FILE.exists)
    httpx.get(f"{json.loads(FILE.read_text())['url']}/healthz", timeout=PATIENCE_SECONDS)
    sys.stdout.write(json.dumps([reload() for _ in range(RELOADS)]))
    os.kill(os.getpid(), signal.SIGTERM)


Catalogue.__init__ = note  # type: ignore[method-assign]  # nothing else sees all of them
threading.Thread(target=reload_all, daemon=True).start()
sys.argv[1:] = ["serve", "--port", "0", "--data", str(DATA)]
main()
