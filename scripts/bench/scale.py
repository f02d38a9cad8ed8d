#!/usr/bin/env python3
"""Measure a gateway with ten thousand tools of imported documents, beside one without imports.

It makes two projects in a temporary folder. Both have all ready connectors. The second one also
imports each document of FOLDER, again and again under other names, until it has enough tools.
Then both serve, and get the same calls in turn. Compare the ratios: both are measured in one run.
"""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import msgspec
from machine import description
from processes import BenchError, Server, started
from scale_load import Calls, calls_in_turn, documents_of, waits_during

KEY: Final = "key-of-a-measurement-0123456789"
CALL: Final = ("/v1/avinode/search_airports", {"query": "Teterboro"})
STARTS: Final = 3
ROUNDS: Final = 9
LIST: Final = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
SUFFIXES: Final = (".json", ".yaml", ".yml")
CONNECTOR: Final = 16
"""The most characters of a connector's name, before the number of its copy."""


def main() -> int:
    """Exit 0 after a measurement, 2 if it is not possible."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with OpenAPI documents, also .gz")
    parser.add_argument("--tools", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--calls", type=int, default=200, help="per round (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="gateway-scale-") as folder:
            report = description() | measured(options, Path(folder))
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    text = msgspec.json.format(msgspec.json.encode(report)).decode()
    print(text if options.json else "\n".join(_lines(report)))
    return 0


def measured(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures. Raises `BenchError`."""
    small, large = folder / "small", folder / "large"
    _say("making a project with the ready connectors")
    small.mkdir()
    _gateway(small, "init")
    _gateway(small, "add", *_ready(small))
    shutil.copytree(small, large)
    connectors, tools = _import(options, large)
    _say(f"generating {tools} imported tools of {connectors} documents")
    first, again = _gateway(large, "generate"), _gateway(large, "generate", "--check")
    lint = _gateway(large, "lint")
    starts = {each.name: _starts(each) for each in (small, large)}
    with _serving(small) as one, _serving(large) as other:
        memory = {"small": one.rss_mb(), "large": other.rss_mb()}
        _say(f"calling both gateways in {ROUNDS} rounds")
        calls = calls_in_turn((one, other), KEY, *CALL, count=options.calls, rounds=ROUNDS)
        _say("listing all tools")
        lists = [waits_during(other, KEY, *each) for each in _documents()]
        memory["large_after_lists"] = other.rss_mb()
    return {
        "connectors": connectors,
        "imported_tools": tools,
        "generate": first,
        "generate_again": again,
        "lint": lint,
        "start_cpu_seconds": starts,
        "resident_mb": memory,
        "call": CALL[0],
        "calls": calls,
        "lists": lists,
    }


def _ready(folder: Path) -> Sequence[str]:
    found = _run(folder, "add", "--list", "--json").stdout
    return [each["name"] for each in msgspec.json.decode(found)]


def _import(options: argparse.Namespace, project: Path) -> tuple[int, int]:
    """Import each document, and copy the imports until there are enough tools."""
    upstreams = project / "schemas" / "upstreams"
    served: dict[str, int] = {}
    documents = documents_of(options.folder, SUFFIXES)
    for number, document in enumerate(documents, start=1):
        _say(f"importing {number}/{len(documents)} {document.name}")
        name = _name(document, served)
        given = _unpacked(document, project.parent)
        done = _run(project, "import", str(given), "--as", name, "--json", is_checked=False)
        if done.returncode == 0:
            served[name] = msgspec.json.decode(done.stdout)["served"]
        else:
            _say(f"left out: {document.name} is refused")
    if not served:
        raise BenchError(f"none of the documents in {options.folder} can be imported")
    copies = dict(served)
    number = 1
    while sum(copies.values()) < options.tools:
        number += 1
        for name, tools in served.items():
            if sum(copies.values()) < options.tools:
                shutil.copytree(upstreams / name, upstreams / f"{name}_{number}")
                copies[f"{name}_{number}"] = tools
    return len(copies), sum(copies.values())


def _name(document: Path, taken: dict[str, int]) -> str:
    stem = document.name.partition(".")[0].lower()
    cleaned = re.sub(r"[^a-z0-9]+", "_", stem).strip("_")
    name = (cleaned if cleaned[:1].isalpha() else f"api_{cleaned}")[:CONNECTOR].strip("_")
    return name if name not in taken else f"{name}_d{len(taken)}"


def _unpacked(document: Path, folder: Path) -> Path:
    if document.suffix != ".gz":
        return document.resolve()
    path = folder / document.stem
    with gzip.open(document) as packed, path.open("wb") as stream:
        shutil.copyfileobj(packed, stream)
    return path


def _gateway(project: Path, *arguments: str) -> dict[str, float]:
    """The processor time and the peak memory of a command. Raises `BenchError` if it fails."""
    before = os.times()
    done = _run(project, *arguments, measure=True)
    after = os.times()
    seconds = sum(after[2:4]) - sum(before[2:4])
    return {"cpu_seconds": round(seconds, 2), "peak_mb": float(done.stderr.split()[-1]) / 1024}


def _run(
    project: Path, *arguments: str, measure: bool = False, is_checked: bool = True
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gateway", *arguments]
    if measure:
        command = [sys.executable, "-c", _MEASURE, *command]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if is_checked and done.returncode != 0:
        raise BenchError(f"gateway {' '.join(arguments)}: {(done.stderr or done.stdout)[-500:]}")
    return done


_MEASURE: Final = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr);"
    "sys.exit(done.returncode)"
)
"""Runs a command, and prints its peak memory in KB at the end of standard error."""


def _serving(project: Path) -> AbstractContextManager[Server]:
    command = [sys.executable, "-m", "gateway", "serve", "--port", "0"]
    environment = {"GATEWAY_BOOTSTRAP_KEY": KEY, "GATEWAY_LOG_LEVEL": "error"}
    return started(project.name, command, environment=environment, folder=project)


def _starts(project: Path) -> float:
    """The processor time of the fastest of several starts, until the gateway is ready."""
    found = []
    for number in range(STARTS):
        _say(f"starting the {project.name} gateway {number + 1}/{STARTS}")
        with _serving(project) as server:
            found.append(server.cpu_seconds())
    return min(found)


def _documents() -> Iterator[tuple[str, str, Any]]:
    yield "tools/list", "/mcp", LIST
    yield "tools/list again", "/mcp", LIST
    yield "openapi.json", "/openapi.json", None
    yield "openapi.json again", "/openapi.json", None


def _lines(report: dict[str, Any]) -> Iterator[str]:
    for name in ("command", "date", "machine", "load_average"):
        yield f"{name}: {report[name]}"
    yield f"imported: {report['imported_tools']} tools of {report['connectors']} connectors"
    for name in ("generate", "generate_again", "lint"):
        seconds, peak = report[name]["cpu_seconds"], report[name]["peak_mb"]
        yield f"{name}: {seconds:.1f} s of processor time, {peak:.0f} MB"
    starts, memory, calls = report["start_cpu_seconds"], report["resident_mb"], report["calls"]
    large, small = starts["large"], starts["small"]
    yield f"start: {large:.2f} s of processor time, without imports {small:.2f} s"
    yield (
        f"memory: {memory['large']:.0f} MB, without imports {memory['small']:.0f} MB,"
        f" after all lists {memory['large_after_lists']:.0f} MB"
    )
    yield f"call {report['call']}: {_ratios(calls)}"
    for each in report["lists"]:
        yield (
            f"{each['what']}: {each['mb']:.1f} MB in {each['seconds']:.2f} s;"
            f" other requests waited at most {each['longest_wait_ms']:.0f} ms"
        )


def _ratios(calls: Calls) -> str:
    small, large = calls.p50_ms
    return (
        f"p50 {large:.3f} ms, without imports {small:.3f} ms, ratio {calls.p50_ratio:.3f};"
        f" processor time per call, ratio {calls.cpu_ratio:.3f}"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
