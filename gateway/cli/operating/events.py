"""`gateway events` and `gateway endpoints`: the events, and the URLs that they are sent to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import click

from gateway.amounts import amount
from gateway.cli.operating.operator import (
    ID,
    JSON_FILE,
    JSON_OBJECT,
    MOMENT,
    OperatorClient,
    operator_options,
    run_operator,
    segment,
)
from gateway.cli.options import WholeGroup
from gateway.cli.output import json_line, print_json, print_next, print_table, seen
from gateway.cli.problems import FINDINGS, OK, plain

# `gateway events list` and `tail`.

_POLL_SECONDS: Final = 0.5
_FROM_THE_FIRST: Final = 0
_EVENTS: Final = "/operator/events"
_PAGE: Final = 200
"""The most events of one request."""
_COLUMNS: Final = ("position", "time", "type", "subject")

types_option: Final = click.option(
    "--type", "types", multiple=True, help="Only this type, or a prefix that ends with *."
)


@click.group(
    cls=WholeGroup, name="events", epilog="Example: gateway events tail --type 'gateway.quote.*'"
)
def command() -> None:
    """List and follow the events that the gateway publishes."""


@command.command("list", epilog="Example: gateway events list --type 'gateway.quote.*' --limit 10")
@types_option
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@operator_options
def list_events(*, types: tuple[str, ...], limit: int, as_json: bool, **flags: Any) -> None:
    """List the newest stored events, oldest first. --json prints them complete."""

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        return await _newest(operator, ",".join(types), limit)

    found = run_operator(flags, ask)
    if as_json:
        print_json({"items": found})
        return
    print_table(_COLUMNS, ([str(each[name]) for name in _COLUMNS] for each in found))


@command.command(
    "tail", epilog="Example: gateway events tail --type 'gateway.quote.*' --from-start --limit 10"
)
@types_option
@click.option("--from-start", is_flag=True, help="Start with the oldest stored event.")
@click.option("--limit", type=click.IntRange(1), help="Stop after this many events.")
@operator_options
def tail(
    *, types: tuple[str, ...], from_start: bool, limit: int | None, as_json: bool, **flags: Any
) -> None:
    """Print new events, one line each, until interrupted. --json prints them complete."""

    async def ask(operator: OperatorClient) -> None:
        shown = 0
        async for event in _events(operator, ",".join(types), from_start=from_start):
            print_next(json_line(event) if as_json else _line(event))
            shown += 1
            if shown == limit:
                return

    run_operator(flags, ask)


async def _newest(operator: OperatorClient, types: str, limit: int) -> list[dict[str, Any]]:
    """The last `limit` events of these types. It looks back in parts that double."""
    end = (await operator.ask("GET", _EVENTS))["next"]
    found: list[dict[str, Any]] = []
    size = _PAGE
    while end > 0 and len(found) < limit:
        begin = max(0, end - size)
        found = [*await _between(operator, types, begin, end), *found][-limit:]
        end, size = begin, 2 * size
    return found


async def _between(
    operator: OperatorClient, types: str, after: int, end: int
) -> list[dict[str, Any]]:
    """The events after a position, and not after `end`."""
    found: list[dict[str, Any]] = []
    while after < end:
        query = {"after": after, "types": types, "limit": min(_PAGE, end - after)}
        page = await operator.ask("GET", _EVENTS, query=query)
        found += (each for each in page["items"] if each["position"] <= end)
        if page["next"] == after:
            break
        after = page["next"]
    return found


async def _events(
    operator: OperatorClient, types: str, *, from_start: bool
) -> AsyncIterator[dict[str, Any]]:
    after: int | None = _FROM_THE_FIRST if from_start else None
    while True:
        page = await operator.ask("GET", _EVENTS, query={"after": after, "types": types})
        for event in page["items"]:
            yield event
        is_at_end, after = page["next"] == after, page["next"]
        if is_at_end:
            await asyncio.sleep(_POLL_SECONDS)


def _line(event: dict[str, Any]) -> str:
    return plain(f"{event['position']:>8} {event['time']} {event['type']} {event['subject']}")


# `gateway endpoints`: `add`, `list`, `show`, `change`, `test`, `replay`, `disable` and so on.


@click.command("replay", epilog="Example: gateway endpoints replay 6f0c3e1a-… --since 2h")
@click.argument("endpoint_id", type=ID)
@click.option(
    "--since",
    type=MOMENT,
    required=True,
    help="Events not older than this: 15m, 2h, 7d, or an RFC 3339 time.",
)
@click.option("--until", type=MOMENT, help="Older than this; same format as --since.")
@click.option("--after", help="Continue an interrupted replay after what that has printed.")
@operator_options
def replay(
    *,
    endpoint_id: str,
    since: str,
    until: str | None,
    after: str | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """Deliver the events of a time again that the endpoint wants by its types and its filter."""
    body = {"since": since, "until": until, "after": after}

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        path = f"/operator/endpoints/{segment(endpoint_id)}/replay"
        pages: list[dict[str, Any]] = []
        try:
            while not pages or body["after"] is not None:
                pages.append(await operator.ask("POST", path, body=body))
                body["after"] = pages[-1]["next"]
        finally:
            if body["after"] is not None:
                message = f"the replay is not complete; to continue it, add --after {body['after']}"
                click.echo(message, err=True)
        return pages

    pages = run_operator(flags, ask)
    started, skipped = (sum(page[name] for page in pages) for name in ("started", "skipped"))
    if as_json:
        replay_id = pages[0]["replay"]
        print_json({"replay": replay_id, "started": started, "skipped": skipped})
        return
    left_out = f"; {amount(skipped, 'event')} left out, on the way already" if skipped else ""
    click.echo(f"{endpoint_id} is sent {amount(started, 'event')} again{left_out}")


_ROOT: Final = "/operator/endpoints"
_ENDPOINT_COLUMNS: Final = ("id", "url", "event_types", "state", "failing_since", "description")


@click.group(
    cls=WholeGroup,
    name="endpoints",
    epilog="Example: gateway endpoints add https://app.example.com/hooks",
)
def endpoints_command() -> None:
    """Manage the endpoints to which events are delivered, signed with Standard Webhooks."""


_headers = click.option(
    "--headers",
    type=JSON_FILE,
    metavar="FILE",
    help="Send these headers too: a JSON object of names and values; - is standard input.",
)
_filter = click.option(
    "--filter",
    "content",
    type=JSON_OBJECT,
    help="Only events whose data meet this JSON Schema; - reads it from standard input.",
)


@endpoints_command.command(
    "add",
    epilog="Example: gateway endpoints add https://app.example.com/hooks --type 'gateway.quote.*'",
)
@click.argument("url_of_endpoint", metavar="URL")
@click.option(
    "--type", "types", multiple=True, help="Only this type, or a prefix that ends with *."
)
@click.option("--description", default="", help="Purpose of the endpoint; shown in lists.")
@_filter
@_headers
@operator_options
def add(
    *,
    url_of_endpoint: str,
    types: tuple[str, ...],
    description: str,
    content: dict[str, Any] | None,
    headers: dict[str, Any] | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """Deliver events to URL from now on, and print the secret that verifies them, once."""
    body = {
        "url": url_of_endpoint,
        "event_types": list(types),
        "description": description,
        "filter": content,
        "headers": headers or {},
    }

    def remove_again(found: dict[str, Any]) -> str:
        _ask(flags, "DELETE", _path(found["id"]))
        return "the endpoint is removed again"

    _show_secret(lambda: _ask(flags, "POST", _ROOT, body), remove_again, as_json=as_json)


@endpoints_command.command("list", epilog="Example: gateway endpoints list --json")
@operator_options
def list_endpoints(*, as_json: bool, **flags: Any) -> None:
    """List the endpoints."""
    found = _ask(flags, "GET", _ROOT)["items"]
    if as_json:
        print_json(found)
    else:
        print_table(_ENDPOINT_COLUMNS, map(_row, found))


@endpoints_command.command(
    "show", epilog="Example: gateway endpoints show 6f0c3e1a-… --state dead_letter"
)
@click.argument("endpoint_id", type=ID)
@click.option("--state", help="Only deliveries in this state.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most.")
@operator_options
def show(*, endpoint_id: str, state: str | None, limit: int, as_json: bool, **flags: Any) -> None:
    """Show an endpoint and its newest deliveries."""

    async def ask(operator: OperatorClient) -> dict[str, Any]:
        endpoint = await operator.ask("GET", _path(endpoint_id))
        pages = operator.pages(f"{_path(endpoint_id)}/deliveries", {"state": state}, limit)
        return {**endpoint, "deliveries": [each async for each in pages]}

    found = run_operator(flags, ask)
    if as_json:
        print_json(found)
        return
    print_table(_ENDPOINT_COLUMNS, [_row(found)])
    if found["filter"] is not None:
        click.echo(f"filter: {json_line(found['filter'])}")
    if found["headers"]:
        click.echo(f"headers: {', '.join(found['headers'])}")
    columns = ("delivery", "event", "state", "attempts", "error")
    print_table(columns, map(_delivery, found["deliveries"]))


@endpoints_command.command(
    "change",
    epilog="""Example: gateway endpoints change 6f0c3e1a-…
    --filter '{"properties": {"currency": {"const": "EUR"}}, "required": ["currency"]}'""",
)
@click.argument("endpoint_id", type=ID)
@_filter
@click.option("--no-filter", is_flag=True, help="Events with any data.")
@_headers
@operator_options
def change(
    *,
    endpoint_id: str,
    content: dict[str, Any] | None,
    no_filter: bool,
    headers: dict[str, Any] | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """Change which events and which headers the endpoint is sent from now on.

    The new headers take the place of all old ones.
    """
    if no_filter and content is not None:
        raise click.UsageError("give either --filter or --no-filter")
    changes: dict[str, Any] = {"filter": content} if no_filter or content is not None else {}
    changes |= {} if headers is None else {"headers": headers}
    if not changes:
        raise click.UsageError("give --filter, --no-filter or --headers")
    _print_endpoint(_ask(flags, "PATCH", _path(endpoint_id), changes), as_json=as_json)


@endpoints_command.command("test", epilog="Example: gateway endpoints test 6f0c3e1a-…")
@click.argument("endpoint_id", type=ID)
@operator_options
def test(*, endpoint_id: str, as_json: bool, **flags: Any) -> int:
    """Send a test event now and print the endpoint's response, without its body."""
    found = _ask(flags, "POST", f"{_path(endpoint_id)}/test", {})
    if as_json:
        print_json(found)
    else:
        click.echo(f"{endpoint_id} {found['outcome']}")
    return OK if found["is_success"] else FINDINGS


endpoints_command.add_command(replay)


@endpoints_command.command("disable", epilog="Example: gateway endpoints disable 6f0c3e1a-…")
@click.argument("endpoint_id", type=ID)
@operator_options
def disable(*, endpoint_id: str, as_json: bool, **flags: Any) -> None:
    """Stop deliveries to the endpoint, and cancel the waiting ones."""
    _print_endpoint(_ask(flags, "POST", f"{_path(endpoint_id)}/disable", {}), as_json=as_json)


@endpoints_command.command("enable", epilog="Example: gateway endpoints enable 6f0c3e1a-…")
@click.argument("endpoint_id", type=ID)
@operator_options
def enable(*, endpoint_id: str, as_json: bool, **flags: Any) -> None:
    """Deliver to the endpoint again, from the next event on."""
    _print_endpoint(_ask(flags, "POST", f"{_path(endpoint_id)}/enable", {}), as_json=as_json)


@endpoints_command.command(
    "rotate", epilog="Example: gateway endpoints rotate 6f0c3e1a-… --grace-hours 24"
)
@click.argument("endpoint_id", type=ID)
@click.option(
    "--grace-hours",
    type=click.FloatRange(0, 168),
    default=24,
    show_default=True,
    help="How long deliveries are also signed with the old secret.",
)
@operator_options
def rotate(*, endpoint_id: str, grace_hours: float, as_json: bool, **flags: Any) -> None:
    """Give the endpoint a new secret and print it, once."""
    body = {"grace_seconds": grace_hours * 3600}
    path = f"{_path(endpoint_id)}/rotate"
    _show_secret(
        lambda: _ask(flags, "POST", path, body),
        lambda _: "nobody can verify what is delivered after the old secret",
        as_json=as_json,
    )


@endpoints_command.command("remove", epilog="Example: gateway endpoints remove 6f0c3e1a-…")
@click.argument("endpoint_id", type=ID)
@operator_options
def remove(*, endpoint_id: str, as_json: bool, **flags: Any) -> None:
    """Remove the endpoint, and cancel its waiting deliveries."""
    _ask(flags, "DELETE", _path(endpoint_id))
    if as_json:
        print_json({"id": endpoint_id, "removed": True})
    else:
        click.echo(f"{endpoint_id} is removed")


def _ask(flags: dict[str, Any], method: str, path: str, body: Any = None) -> Any:
    return run_operator(flags, lambda operator: operator.ask(method, path, body=body))


def _path(endpoint_id: str) -> str:
    return f"{_ROOT}/{segment(endpoint_id)}"


def _print_endpoint(endpoint: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(endpoint)
    else:
        click.echo(f"{endpoint['id']} is {endpoint['state']}")


def _show_secret(
    make: Callable[[], dict[str, Any]], undo: Callable[[dict[str, Any]], str], *, as_json: bool
) -> None:
    """Print a secret when it is made. It is not made, or `undo` is called, if nobody can see it."""
    with seen("secret"):
        pass
    found = make()
    with seen("secret", lambda: undo(found)):
        if as_json:
            print_json(found)
            return
        click.echo(found["secret"])
    message = f"{found['id']} delivers to {found['url']}. Keep the secret: it is not shown again."
    click.echo(message, err=True)


def _row(endpoint: dict[str, Any]) -> tuple[str, ...]:
    shown = {**endpoint, "event_types": ", ".join(endpoint["event_types"]) or "all"}
    return tuple(str(shown[name] or "") for name in _ENDPOINT_COLUMNS)


def _delivery(each: dict[str, Any]) -> tuple[str, ...]:
    job, event = each["job"], each["event"]
    attempts = f"{job['attempts']}/{job['max_attempts']}"
    return (each["id"], event["type"], job["state"], attempts, job["error"] or "")
