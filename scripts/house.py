"""Counts the house: lines, files, modules with one importer, documents, and what one call passes.

The calls are a read of a live upstream (a fake of it) and one without upstream, over REST. The
figures are of the run, out of ten, beside which least else was done: functions of the gateway that
are called, how many of them differ, in how many files, and the coroutines that wait for one another
while the upstream has the request.

    python scripts/house.py
    python scripts/house.py --json
"""

import argparse
import ast
import asyncio
import json
import runpy
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from types import CodeType, FrameType
from typing import Any, Final

import httpx
from reference import PAGES

from gateway.app import Gateway
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from tests.fakes.cases import CASES
from tests.fakes.trial import every_fake, live_settings
from tests.fakes.wire import World

ROOT: Final = Path(__file__).resolve().parent.parent
GATEWAY: Final = ROOT / "gateway"
_KEY: Final = "bootstrap-key-of-the-house-0123456789"
_TOOL: Final = "gmail.get_email"
_LOCAL: Final = "example.calculate"
_RUNS: Final = 10


def module_of(path: Path) -> str:
    """The dotted name of a module of the gateway."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules of the gateway that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for each in node.names:
                full = f"{node.module}.{each.name}"
                yield full if full in modules else node.module


def size() -> dict[str, Any]:
    """Lines, files, and the modules that one other module imports."""
    modules = {module_of(path): path for path in sorted(GATEWAY.rglob("*.py"))}
    importers = defaultdict(set)
    for name, path in modules.items():
        for target in imported(path, modules):
            importers[target].add(name)
    lengths = [path.read_text().count("\n") for path in modules.values()]
    single = [
        name
        for name, path in modules.items()
        if path.name != "__init__.py" and len(importers[name] - {name}) == 1
    ]
    tests = [path.read_text().count("\n") for path in (ROOT / "tests").rglob("*.py")]
    return {
        "lines": sum(lengths),
        "files": len(lengths),
        "mean": round(statistics.mean(lengths)),
        "median": round(statistics.median(lengths)),
        "one importer": len(single),
        "lines of tests": sum(tests),
    }


def documents() -> dict[str, int]:
    """Pages and words of the site, and those of it that people write."""
    docs = ROOT / "docs"
    left_out = runpy.run_path(str(docs / "conf.py"))["exclude_patterns"]
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=docs, capture_output=True, text=True, check=True
    )
    pages = [
        docs / name
        for name in listed.stdout.splitlines()
        if not any(PurePath(name).match(pattern) for pattern in left_out)
    ]
    by_hand = sum(len(page.read_text("utf-8").split()) for page in pages)
    built = sum(len(render().split()) for render in PAGES.values())
    return {
        "pages of the site": len(pages) + len(PAGES),
        "words of the site": by_hand + built,
        "words by hand": by_hand,
        "entries of decisions": (docs / "decisions.md").read_text("utf-8").count("\n### "),
    }


class Watch:
    """The functions of the gateway that are called while it is open."""

    def __init__(self) -> None:
        self.called: list[CodeType] = []

    def __enter__(self) -> "Watch":
        sys.setprofile(self._noted)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _noted(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(GATEWAY)):
            self.called.append(frame.f_code)


def nested(task: "asyncio.Task[Any]") -> list[str]:
    """The coroutines of the gateway that a task waits in, the outermost first."""
    found: list[str] = []
    waiting: Any = task.get_coro()
    while waiting is not None:
        code = getattr(waiting, "cr_code", None) or getattr(waiting, "ag_code", None)
        if code is not None and code.co_filename.startswith(str(GATEWAY)):
            found.append(f"{Path(code.co_filename).relative_to(ROOT)} {code.co_qualname}")
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "ag_await", None)
    return found


class Observed(World):
    """The fakes; each request notes in which coroutines a call waits for it."""

    waiting: Sequence[str] = ()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.waiting = max((nested(task) for task in asyncio.all_tasks()), key=len)
        await super().__call__(scope, receive, send)


async def call() -> dict[str, Any]:
    """The figures of one call of a live upstream, and of one that has none."""
    fakes = every_fake()
    case = next(each for each in CASES if each.tool == _TOOL)
    world = Observed(fakes)
    with tempfile.TemporaryDirectory() as data:
        async with serving(world) as upstreams:
            settings = {"GATEWAY_DATA": data, "GATEWAY_BOOTSTRAP_KEY": _KEY}
            found = read_settings(settings | live_settings(upstreams, fakes), None, {})
            async with Gateway.open(found) as gateway, serving(gateway.http_app()) as url:
                headers = {"Authorization": f"Bearer {_KEY}"}
                async with httpx.AsyncClient(base_url=url, headers=headers) as client:
                    return {
                        _TOOL: await watched(client, _TOOL, case.arguments),
                        _LOCAL: await watched(client, _LOCAL, {"operation": "add", "a": 5, "b": 3}),
                        "waiting": list(world.waiting),
                    }


async def watched(client: httpx.AsyncClient, tool: str, arguments: Any) -> dict[str, Any]:
    """What one call over REST calls of the gateway, when all that is made once is made."""
    path = f"/v1/{tool.replace('.', '/')}"
    for _ in range(3):
        (await client.post(path, json=arguments)).raise_for_status()
    runs: list[list[CodeType]] = []
    for _ in range(_RUNS):
        with Watch() as watch:
            (await client.post(path, json=arguments)).raise_for_status()
        runs.append(watch.called)
    called = min(runs, key=len)
    return {
        "calls of functions": len(called),
        "functions": len(set(called)),
        "files": len({code.co_filename for code in called}),
    }


def main() -> int:
    description, _, example = (__doc__ or "").partition("\n\n    ")
    parser = argparse.ArgumentParser(description=description, epilog=f"Example: {example}")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    given = parser.parse_args()
    report = {"size": size(), "documents": documents(), "call": asyncio.run(call())}
    if given.json:
        print(json.dumps(report, indent=2))
        return 0
    for name, number in (report["size"] | report["documents"]).items():
        print(f"{name:20} {number:>8,}")
    waiting = report["call"].pop("waiting")
    for tool, of_it in report["call"].items():
        print(tool, ", ".join(f"{number} {name}" for name, number in of_it.items()))
    print(f"{len(waiting)} coroutines wait in one another for the upstream:")
    print("\n".join(f"  {each}" for each in waiting))
    return 0


if __name__ == "__main__":
    sys.exit(main())
