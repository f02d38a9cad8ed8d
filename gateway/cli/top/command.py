"""`gateway top`."""

import asyncio
import time
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.live import Live

from gateway.cli.elsewhere.options import checked_url, key_file_option, remote_key
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import console, print_json
from gateway.cli.signals import until_stopped
from gateway.cli.top.scrape import GatewayAway, MetricsReader
from gateway.cli.top.screen import screen, tables
from gateway.cli.top.snapshot import snapshot

_MAX_ROWS: Final = 20


@click.command(name="top", epilog="Example: gateway top --url https://gateway.example.com")
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    default=2.0,
    show_default=True,
    help="Seconds between two scrapes.",
)
@click.option("--once", "is_once", is_flag=True, help="Print one interval, and end.")
@click.option("--url", required=True, help="URL of the running gateway.")
@key_file_option
@settings_options()
@json_option
def command(
    *,
    interval: float,
    is_once: bool,
    as_json: bool,
    url: str,
    key_file: Path | None,
    **flags: Any,
) -> None:
    """Show what a running gateway does, until interrupted: calls, times, breakers, queues.

    It reads /metrics of the gateway at --url, with the key of an agent with the grant
    gateway.operate. Without a terminal, or with --json, it prints one interval, as with --once.
    """
    reader = MetricsReader(checked_url(url), remote_key(settings_of(flags), key_file))
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
