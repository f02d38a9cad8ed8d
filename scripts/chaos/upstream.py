"""R11: an upstream that fails gets few requests, and tools of others do not notice.

Two tools of a gateway are called at a constant rate. Each has an upstream: one in this process, and
one in that of `upstream_probe.py`. First both are healthy. Then a share of the replies of the first
one has a fault, and 1,100 calls of its tool come at once. Found are the requests that it got for
each call, after how many seconds its breaker opened, the answers of its callers, how long calls of
the other tool took before and meanwhile, and whether the bars are met. Exit 1 if one is missed.

    python scripts/chaos/upstream.py --seconds 15
    python scripts/chaos/upstream.py --faults 503 reset --shares 1 --seconds 5 --json
"""

import argparse
import asyncio
import contextlib
import json
import resource
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

from faulty import FAULTS, HEALTHY, FaultyServer, faulty_server
from gateways import KEY, ChaosError, Nursery, environment, nursery, serving
from msgspec import to_builtins
from trial import Bar, circumstances, free_port
from upstream_load import Load, Probe, probing
from upstream_verdict import Found, ratio, table, times

SHARES: Final = (0.1, 0.25, 0.5, 0.75, 1.0)
_FILES: Final = 8192
_WARM_UP_SECONDS: Final = 1.0


def main() -> int:
    """Run all trials and print their report."""
    options = _parser().parse_args()
    if options.seconds * options.rate < 1:
        print("error: no call fits into --seconds; make --seconds longer", file=sys.stderr)
        return 2
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, most), most))
    try:
        found = asyncio.run(_run(options))
    except (ChaosError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({**circumstances(), "trials": [_shown(each) for each in found]}))
    else:
        lines = [f"{name}: {value}" for name, value in circumstances().items()]
        print("\n".join([*lines, "", *table(found)]))
    return 1 if any("missed" in each.verdicts.values() for each in found) else 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--faults", nargs="+", choices=list(FAULTS), default=list(FAULTS))
    made.add_argument("--shares", nargs="+", type=float, default=list(SHARES))
    made.add_argument("--seconds", type=float, default=15.0, help="before, and with the fault")
    made.add_argument("--rate", type=float, default=40.0, help="calls of each tool per second")
    made.add_argument("--burst", type=int, default=1100, help="calls at once when the fault begins")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--json", action="store_true", help="print JSON")
    return made


async def _run(options: argparse.Namespace) -> list[Found]:
    found: list[Found] = []
    bar = Bar("upstream", len(options.faults) * len(options.shares))
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        async with nursery(Path(folder)) as born:
            for fault in options.faults:
                for share in options.shares:
                    found.append(await _try(born, Path(folder), fault, share, options))
                    bar.step(f"{fault} {share:g}")
    return found


async def _try(
    born: Nursery, folder: Path, fault: str, share: float, options: argparse.Namespace
) -> Found:
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    async with (
        faulty_server(random) as (url, upstream),
        probing(options.rate) as probe,
        _gateway(born, folder / f"{fault}-{share:g}", url, probe.upstream) as gateway,
    ):
        trial = _Trial(gateway, probe, upstream, options)
        return await trial.measure(fault, share)


@asynccontextmanager
async def _gateway(born: Nursery, data: Path, url: str, other: str) -> AsyncIterator[str]:
    """The URL of a gateway with two live upstreams."""
    settings = environment(
        "memory:",
        GATEWAY_BOOTSTRAP_KEY=KEY,
        GATEWAY_BACKEND_AVINODE="live",
        GATEWAY_AVINODE_BASE_URL=url,
        GATEWAY_AVINODE_API_TOKEN=KEY,
        GATEWAY_AVINODE_ACCESS_TOKEN=KEY,
        GATEWAY_BACKEND_GOLF="live",
        GATEWAY_GOLF_BASE_URL=other,
        GATEWAY_GOLF_TOKEN_URL=f"{other}/oauth2/token",
        GATEWAY_GOLF_CLIENT_ID="probe",
        GATEWAY_GOLF_CLIENT_SECRET=KEY,
        GATEWAY_GOLF_COURSE_ID="course-001",
        GATEWAY_GOLF_USER_ID="user-001",
        GATEWAY_CALL_LIMITS="false",
        # All calls come from one address, and each is meant to reach the limits of upstreams.
        GATEWAY_MAX_CONNECTIONS="3000",
        GATEWAY_MAX_CONNECTIONS_PER_ADDRESS="3000",
        GATEWAY_MAX_CONNECTS_PER_SECOND="3000",
        GATEWAY_LOG_LEVEL="error",
    )
    process = await born.start(*serving(data, free_port()), env=settings)
    try:
        yield await process.ready()
    finally:
        await process.kill()


class _Trial:
    """One gateway, its upstreams and its callers."""

    def __init__(
        self, gateway: str, probe: Probe, upstream: FaultyServer, options: argparse.Namespace
    ) -> None:
        self._gateway = gateway
        self._load = Load(gateway)
        self._probe = probe
        self._upstream = upstream
        self._options = options

    async def measure(self, fault: str, share: float) -> Found:
        """Call while both upstreams are healthy, and then while one has the fault."""
        load, upstream = self._load, self._upstream
        upstream.fault, upstream.share = HEALTHY, 1.0
        # The first calls open connections and load modules.
        await self._call(_WARM_UP_SECONDS)
        before = await self._call(self._options.seconds)
        await load.ended()
        healthy = dict(load.answers)
        load.forget()
        upstream.fault, upstream.share, upstream.requests = FAULTS[fault], share, 0
        opening = asyncio.create_task(load.seconds_to_open())
        await load.burst(self._options.burst)
        during = await self._call(self._options.seconds)
        await load.ended()
        opened = await _ended(opening)
        return Found(
            fault=fault,
            share=share,
            calls=load.answers.total(),
            requests=upstream.requests,
            healthy=healthy,
            answers=dict(load.answers.most_common()),
            seconds_to_open=opened,
            before=times(before),
            during=times(during),
            ratio=ratio(before, during),
            other_failed=dict(self._probe.failed),
        )

    async def _call(self, seconds: float) -> list[float]:
        """Call both tools. Returns how long calls of the other one took, in seconds."""
        _, took = await asyncio.gather(
            self._load.run(seconds, self._options.rate),
            self._probe.measure(self._gateway, seconds),
        )
        if not took:
            raise ChaosError("no call of the other tool was answered")
        return took


async def _ended(opening: asyncio.Task[float]) -> float | None:
    """The result, or None if there is none yet."""
    if opening.done():
        return opening.result()
    opening.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await opening
    return None


def _shown(found: Found) -> dict[str, object]:
    made: dict[str, object] = to_builtins(found)
    return made | {"requests_per_call": found.requests_per_call, "verdicts": found.verdicts}


if __name__ == "__main__":
    sys.exit(main())
