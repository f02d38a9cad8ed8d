"""No work of a request stops the event loop for long, also where an input is at its limit.

A gateway is started with `slow_callback_seconds`, and each input is sent to it some times: results
of 8 MB over REST and MCP, cut and whole, 10,000 members, 64 levels, 5,000 rows, a reply in one-byte
pieces, arguments, rows and webhooks at their limits, long lists, and reloads while it is called;
its catalogue is a document of 10 MB. Shown is the longest callback of each input: the least of its
rounds, since in one the machine may have been busy. Exit 1 if one is above the bar.

    python scripts/chaos/loop.py
    python scripts/chaos/loop.py --only rows numbers --rounds 5 --json
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from gateways import KEY, READY_SECONDS, SECRET, ChaosError
from loop_inputs import INPUTS, Client
from loop_project import MEGABYTE, WHOLE, make_project, replies, run, serve_vendor, settings
from msgspec import Struct
from trial import Bar, circumstances

_LIMIT_SECONDS: Final = 0.01
_SETTLED_SECONDS: Final = 0.3
"""Until then, what follows an answer is done: its audit record is written."""
_LOGGER: Final = "gateway.observability.slow_callbacks"
_SHOWN: Final = 4


class Row(Struct, frozen=True):
    """What an input did to the loop."""

    input: str
    answer: str
    ms: float
    cpu_ms: float
    stack: list[str]


def main() -> int:
    """Run the trial and print its table."""
    options = _parser().parse_args()
    try:
        rows = asyncio.run(_run(options))
    except (ChaosError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    facts = circumstances()
    if options.json:
        found = [{name: getattr(each, name) for name in each.__struct_fields__} for each in rows]
        print(json.dumps({**facts, "inputs": found}))
    else:
        heads = [f"{name}: {value}" for name, value in facts.items()]
        print("\n".join([*heads, "", *_table(rows)]))
    return int(any(each.ms > options.bar for each in rows))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--only", nargs="+", choices=list(INPUTS), default=list(INPUTS))
    made.add_argument("--rounds", type=int, default=3, help="of each input (%(default)s)")
    made.add_argument("--bar", type=float, default=50.0, help="milliseconds (%(default)s)")
    made.add_argument("--megabytes", type=float, default=8.0, help="of a reply (%(default)s)")
    made.add_argument("--document", type=float, default=10.0, help="megabytes (%(default)s)")
    made.add_argument("--json", action="store_true", help="print JSON")
    return made


async def _run(options: argparse.Namespace) -> list[Row]:
    rows = []
    bar = Bar("loop", len(options.only))
    with tempfile.TemporaryDirectory(prefix="loop-") as name:
        folder = Path(name)
        server, vendor = await serve_vendor(replies(int(options.megabytes * MEGABYTE)))
        async with server:
            await make_project(folder / "project", vendor, int(options.document * MEGABYTE))
            async with _gateway(folder, vendor) as (client, log):
                for each in options.only:
                    rows.append(await _tried(each, client, log, options.rounds))
                    bar.step(each)
    return rows


async def _tried(name: str, client: Client, log: Path, rounds: int) -> Row:
    """The round with the shortest longest callback."""
    answer = await INPUTS[name](client)  # what is loaded for the first one only is no input
    found = []
    for _ in range(rounds):
        await asyncio.sleep(_SETTLED_SECONDS)
        before = await asyncio.to_thread(_size, log)
        answer = await INPUTS[name](client)
        await asyncio.sleep(_SETTLED_SECONDS)
        reports = _reports(log, before)
        slow = [Row(name, answer, each["ms"], each["cpu_ms"], each["stack"]) for each in reports]
        found.append(max(slow, key=_ms, default=Row(name, answer, 0.0, 0.0, [])))
    return min(found, key=_ms)


def _size(log: Path) -> int:
    return log.stat().st_size


def _ms(row: Row) -> float:
    return row.ms


def _reports(log: Path, since: int) -> Iterator[dict[str, Any]]:
    """The reports in the log from the byte `since` on."""
    with log.open("rb") as file:
        file.seek(since)
        for line in file:
            with suppress(ValueError):
                found = json.loads(line)
                if found.get("logger") == _LOGGER:
                    yield found


@asynccontextmanager
async def _gateway(folder: Path, vendor: str) -> AsyncIterator[tuple[Client, Path]]:
    """A gateway that serves the project, and its log."""
    project, log = folder / "project", folder / "log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "serve", "--port", "0"),
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=_environment(vendor),
            cwd=project,
        )
    if process.stdout is None:
        raise ChaosError("the gateway has no output")
    try:
        async with asyncio.timeout(READY_SECONDS):
            line = (await process.stdout.readline()).decode()
        if not line.startswith("ready "):
            raise ChaosError(f"the gateway did not start: {log.read_text()[-1000:]}")
        made = await run(project, "keys", "create", WHOLE, "--json")
        async with Client(line.split()[1], json.loads(made)["key"], process.pid) as client:
            yield client, log
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def _environment(vendor: str) -> dict[str, str]:
    return {
        **settings(),
        "GATEWAY_BOOTSTRAP_KEY": KEY,
        "GATEWAY_SLOW_CALLBACK_SECONDS": str(_LIMIT_SECONDS),
        "GATEWAY_ALLOW_PLAIN_HTTP": "true",
        "GATEWAY_BACKEND_VENDOR": "live",
        "GATEWAY_BACKEND_SHEETS": "live",
        "GATEWAY_SHEETS_BASE_URL": vendor,
        "GATEWAY_SHEETS_TOKEN_URL": f"{vendor}/token",
        "GATEWAY_SHEETS_SPREADSHEET_ID": "clients",
        **dict.fromkeys(
            (f"GATEWAY_SHEETS_{each}" for each in ("CLIENT_ID", "CLIENT_SECRET", "REFRESH_TOKEN")),
            KEY,
        ),
        "GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS": SECRET,
        "GATEWAY_CALL_LIMITS": "false",
        "GATEWAY_MAX_BODY_BYTES": str(16 * MEGABYTE),
        "GATEWAY_LOG_LEVEL": "warning",
        "GATEWAY_LOG_FORMAT": "json",
    }


def _table(rows: list[Row]) -> list[str]:
    lines = [f"{'input':<24} {'answer':<26} {'ms':>7} {'cpu ms':>7}  where"]
    for each in rows:
        where = " < ".join(line.removeprefix("gateway.") for line in each.stack[:_SHOWN])
        lines.append(
            f"{each.input:<24} {each.answer:<26} {each.ms:>7.1f} {each.cpu_ms:>7.1f}  {where}"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
