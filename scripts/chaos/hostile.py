"""R20: whatever one caller or host does, the others go on.

A gateway with little memory serves hostile documents, a hostile upstream, and callers. A caller
that behaves well calls tools over REST and over both eras of MCP, lists tools, posts webhooks and
runs jobs: alone, and beside each kind of attack, in turns. Where there are two cores, the gateway
has one, and the others share one, on which the caller goes before the attackers: these are
elsewhere, and what they compute must delay nobody. Found are how long its calls took, what was
refused, and the memory of the gateway. Each kind has a gateway of its own. Exit 1 if the p99 of
the others is more than three times that alone, if one of them is refused, if more than 400 MB are
resident, if the process dies, or if an attacker gets what is another's.

    python scripts/chaos/hostile.py --seconds 10
    python scripts/chaos/hostile.py --only one-byte endless --seconds 20 --json
"""

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec
from gateways import ChaosError
from hostile_kinds import KINDS, LASTING, SKIPPED
from hostile_project import CAN_PIN, LIMIT, OTHERS_CPU, Served, project_in, serving
from hostile_upstream import hostile_upstream
from hostile_verdict import BARS, Found, Window, table
from trial import circumstances

_FILES: Final = 8192
_TURNS: Final = 2
_WARM_UP_SECONDS: Final = 2.0
_SETTLE_SECONDS: Final = 1.0
_NICE: Final = 10
_LINE_BYTES: Final = 1 << 24


def main() -> int:
    """Run all trials and print their report."""
    options = _parser().parse_args()
    if options.seconds * options.rate < _TURNS:
        print("error: no call fits into --seconds; make --seconds longer", file=sys.stderr)
        return 2
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, most), most))
    try:
        found = asyncio.run(_run(options))
    except (ChaosError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    skipped = SKIPPED if not options.only else {}
    if options.json:
        trials = [{**msgspec.to_builtins(each), "failures": each.failures} for each in found]
        report = {**circumstances(), "limit": LIMIT, "bars": BARS, "skipped": skipped}
        print(json.dumps({**report, "trials": trials}))
    else:
        lines = [f"{name}: {value}" for name, value in circumstances().items()]
        print("\n".join([*lines, f"limit: {LIMIT}", "", *table(found, skipped)]))
    return 1 if any(each.failures for each in found) else 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--only", nargs="+", choices=list(KINDS), metavar="KIND", default=[])
    made.add_argument("--seconds", type=float, default=10.0, help="alone, and beside (%(default)s)")
    made.add_argument("--rate", type=float, default=25.0, help="calls per second (%(default)s)")
    made.add_argument("--keep", type=Path, help="folder of the project, used again if it is there")
    made.add_argument("--json", action="store_true", help="print JSON")
    return made


async def _run(options: argparse.Namespace) -> list[Found]:
    kinds = options.only or list(KINDS)
    found: list[Found] = []
    with tempfile.TemporaryDirectory(prefix="chaos-") as made:
        folder = options.keep or Path(made)
        folder.mkdir(exist_ok=True, parents=True)
        if CAN_PIN:
            os.sched_setaffinity(0, {OTHERS_CPU})
        async with _probing() as probe, hostile_upstream() as upstream:
            # After the caller has started, which keeps its priority.
            os.nice(_NICE)
            _say("makes the project")
            keys = await project_in(folder)
            for number, kind in enumerate(kinds, 1):
                async with serving(folder, keys, upstream) as served:
                    found.append(await _try(served, probe, kind, options))
                _say(f"{number}/{len(kinds)} {kind}: {'; '.join(found[-1].failures) or 'met'}")
    return found


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def _try(
    served: Served, probe: asyncio.subprocess.Process, kind: str, options: argparse.Namespace
) -> Found:
    turns = 1 if kind in LASTING else _TURNS
    alone, beside = Window(), Window()
    watching = asyncio.create_task(served.watch())
    order = {
        "url": served.target.url,
        "key": served.target.keys["honest"],
        "rate": options.rate,
        "seconds": options.seconds / turns,
    }
    # The first calls open connections and load modules.
    await _called(probe, {**order, "seconds": _WARM_UP_SECONDS})
    for _ in range(turns):
        alone.add(await _called(probe, order))
        async with _attack(served, kind):
            await asyncio.sleep(_SETTLE_SECONDS)
            beside.add(await _called(probe, order))
        await asyncio.sleep(_SETTLE_SECONDS)
    watching.cancel()
    return Found(
        kind=kind,
        alone=alone,
        beside=beside,
        peak_mb=served.peak_mb,
        answers=dict(served.target.answers.most_common()),
        findings=served.target.findings,
        lived=served.process.returncode is None,
    )


@asynccontextmanager
async def _attack(served: Served, kind: str) -> AsyncIterator[None]:
    """The attack goes on during the block. What ends it is a fault of the trial, and raised."""
    attack = asyncio.ensure_future(KINDS[kind](served.target))
    try:
        yield
    finally:
        attack.cancel()
        (ended,) = await asyncio.gather(attack, return_exceptions=True)
    if not isinstance(ended, asyncio.CancelledError):
        raise ChaosError(f"the attack {kind} ended: {ended!r}")


@asynccontextmanager
async def _probing() -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(Path(__file__).with_name("hostile_probe.py"))),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _called(probe: asyncio.subprocess.Process, order: Mapping[str, object]) -> Window:
    """What the caller that behaves well saw."""
    if probe.stdin is None or probe.stdout is None:
        raise ChaosError("the probe has no pipes")
    probe.stdin.write(json.dumps(order).encode() + b"\n")
    line = await probe.stdout.readline()
    if not line:
        raise ChaosError("the probe ended")
    return msgspec.json.decode(line, type=Window)


if __name__ == "__main__":
    sys.exit(main())
