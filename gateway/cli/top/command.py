"""`gateway top`."""

import asyncio
import time
from typing import Any, Final

import click
from rich.console import Console
from rich.live import Live

from gateway.cli.elsewhere.running import running_options, target_of
from gateway.cli.options import json_option
from gateway.cli.output import console, print_json
from gateway.cli.signals import until_stopped
from gateway.cli.top.scrape import GatewayAway, MetricsReader
from gateway.cli.top.screen import screen, tables
from gateway.cli.top.snapshot import snapshot

_MAX_ROWS: Final = 20


@click.command(name="top", epilog="Example: gateway top --interval 5")
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    default=2.0,
    show_default=True,
    help="Seconds between two scrapes.",
)
@click.option("--once", "is_once", is_flag=True, help="Print one interval, and end.")
@running_options
@json_option
def command(
    *,
    interval: float,
    is_once: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """Show what a running gateway does, until interrupted: calls, times, breakers, queues.

    It reads /metrics of the gateway at --url, or of the one that serves the data folder on this
    machine, with the key of an agent with the grant gateway.operate. Without --url and a key, that
    is the administrator's of the data folder. Without a terminal, or with --json, it prints one
    interval, as with --once.
    """
    target = target_of(flags)
    reader = MetricsReader(target.url, target.key)
    out = console()
    if as_json or is_once or not out.is_terminal or out.is_dumb_terminal:
        asyncio.run(_print_once(reader, out, interval, as_json=as_json))
    else:
        asyncio.run(until_stopped(_watch(reader, out, interval)))


async def _print_once(
    reader: MetricsReader, out: Console, interval: float, *, as_json: bool
) -> None:
    async with reader:
        before = await reader.scrape()
        await asyncio.sleep(interval)
        shown = snapshot(await reader.scrape(), before)
    if as_json:
        print_json(shown)
        return
    with out.capture() as captured:
        for each in tables(shown, _MAX_ROWS):
            out.print(each)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


async def _watch(reader: MetricsReader, out: Console, interval: float) -> None:
    """Show the gateway until cancelled, also when it is away for a time."""
    async with reader:
        before = await reader.scrape()
        shown, notice = snapshot(before), ""
        with Live(
            screen(shown, out, notice),
            console=out,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as live:
            while True:
                live.update(screen(shown, out, notice), refresh=True)
                await asyncio.sleep(interval)
                try:
                    now = await reader.scrape()
                except GatewayAway as away:
                    notice = notice or _notice(away)
                else:
                    shown, before, notice = snapshot(now, before), now, ""


def _notice(away: GatewayAway) -> str:
    problem, _, _ = away.detail.partition("; ")
    return f"{time.strftime('%H:%M:%S')} {problem}. Trying again; this is from before:"
