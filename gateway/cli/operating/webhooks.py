"""`gateway webhooks` and `gateway dead-letters`: list messages, run them again, send one."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final, get_args
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import click
import httpx2
from msgspec.structs import replace

from gateway.authoring.contracts.names import payload_stem
from gateway.authoring.contracts.tree import WEBHOOKS, read_tree
from gateway.authoring.project.drafts.events import preset_names
from gateway.catalogue import Catalogue
from gateway.cli.operating.operator import (
    ID,
    OperatorClient,
    operator_options,
    run_operator,
    segment,
)
from gateway.cli.options import WholeGroup, json_option, settings_of, settings_options
from gateway.cli.output import counted, print_json, print_table
from gateway.cli.problems import FINDINGS, OK, Refused, plain
from gateway.cli.project import open_project
from gateway.contract.values import jsontext
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import steps
from gateway.contract.webhook import Profile, WebhookEvent, WebhookSource
from gateway.errors import ConfigurationError
from gateway.job_policy import JobKind
from gateway.settings import Settings
from gateway.settings.webhooks import secrets_name, unsigned
from gateway.signatures.received import Received, only_value
from gateway.signatures.scheme import InvalidSecret
from gateway.store.records import JobState
from gateway.webhooks.source import FOLDER

# Sends the same request for several resources, and reports the outcome of each.


async def tried(
    operator: OperatorClient,
    path: str,
    body: Mapping[str, Any],
    name: str,
    step: Callable[[], None],
) -> dict[str, Any]:
    """The response or, if it was refused, the problem. A refusal does not stop the others."""
    try:
        return {"id": name, **await operator.ask("POST", path, body=body)}
    except Refused as refused:
        return {"id": name, "problem": refused.problem}
    finally:
        step()


def report_each(found: Sequence[dict[str, Any]], *, as_json: bool, done: str) -> int:
    """Print the outcome of each. Returns the exit code, 1 if one was refused."""
    if as_json:
        print_json(found)
    else:
        for each in found:
            click.echo(plain(f"{each['id']} {_why(each) or done}"))
        if not found:
            click.echo("there is nothing to do")
    return FINDINGS if any(map(_why, found)) else OK


def _why(each: Mapping[str, Any]) -> str:
    """Why it was refused, or the violations that remain; empty if neither."""
    if "problem" in each:
        return str(each["problem"].get("detail", "was refused"))
    places = (place_of(one) for one in each.get("refusals", ()))
    listed = "; ".join(places)
    return f"still breaks its contract: {listed}" if listed else ""


def place_of(refusal: Mapping[str, Any]) -> str:
    """One violation, in one line."""
    return f"{refusal['pointer'] or '(the whole)'}: {refusal['detail']}"


# `gateway dead-letters list` and `redrive`.

_KINDS: Final = get_args(JobKind)
_LETTER_COLUMNS: Final = ("id", "kind", "lane", "subject", "attempts", "error", "updated_at")
_JOBS: Final = "/operator/jobs"


@click.group(
    cls=WholeGroup,
    name="dead-letters",
    epilog="Example: gateway dead-letters redrive --all --kind delivery",
)
def dead_letters_command() -> None:
    """List dead letters, and run them again."""


_kind = click.option("--kind", type=click.Choice(_KINDS), help="Only jobs of this kind.")
_lane = click.option(
    "--lane",
    help="Only webhooks of this provider, deliveries to this endpoint or calls of this tool.",
)


@dead_letters_command.command(
    "list", epilog="Example: gateway dead-letters list --kind webhook --json"
)
@_kind
@_lane
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@operator_options
def list_dead_letters(
    *, kind: str | None, lane: str | None, limit: int, as_json: bool, **flags: Any
) -> None:
    """List dead letters, newest first, with the class of the last failure."""

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        return await _dead(operator, kind, lane, limit)

    found = run_operator(flags, ask)
    if as_json:
        print_json(found)
    else:
        print_table(
            _LETTER_COLUMNS, ([str(each[name] or "") for name in _LETTER_COLUMNS] for each in found)
        )


@dead_letters_command.command(
    "redrive",
    epilog="Example: gateway dead-letters redrive --all --kind delivery --lane 6f0c3e1a-…",
)
@click.argument("job_ids", type=ID, nargs=-1, metavar="[JOB_ID...]")
@click.option("--all", "is_all", is_flag=True, help="Every dead letter that matches the filters.")
@_kind
@_lane
@operator_options
def redrive(
    *,
    job_ids: tuple[str, ...],
    is_all: bool,
    kind: str | None,
    lane: str | None,
    as_json: bool,
    **flags: Any,
) -> int:
    """Run dead letters again, each with a new set of attempts. Their earlier attempts are kept."""
    if is_all == bool(job_ids):
        raise click.UsageError("give the ids of the dead letters, or --all")
    if job_ids and (kind or lane):
        raise click.UsageError("--kind and --lane require --all")

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        chosen = job_ids or [each["id"] for each in await _dead(operator, kind, lane, None)]
        with counted("redriving", len(chosen)) as step:
            return [
                await tried(operator, f"{_JOBS}/{segment(each)}/redrive", {}, each, step)
                for each in chosen
            ]

    return report_each(run_operator(flags, ask), as_json=as_json, done="is pending again")


async def _dead(
    operator: OperatorClient, kind: str | None, lane: str | None, limit: int | None
) -> list[dict[str, Any]]:
    query = {"kind": kind, "lane": lane, "state": "dead_letter", "is_last": "true"}
    return [each async for each in operator.pages(_JOBS, query, limit)]


# `gateway webhooks list`, `show`, `replay`, `quarantine` and `send`.

_ANY: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
_TIMEOUT_SECONDS: Final = 30.0


@click.command("send", epilog="Example: gateway webhooks send stripe.invoice.paid")
@click.argument("name", metavar="PROVIDER[.EVENT]")
@click.option("--profile", help="How it is signed.  [default: the first profile with a secret]")
@click.option(
    "--body",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="File with the message in JSON.  [default: the first example in its contract, with a new"
    " id]",
)
@click.option("--to", metavar="URL", help="The gateway.  [default: the one of these settings]")
@settings_options("schemas", "package", "handler_packages", "host", "port", "data")
@json_option
def send(
    *,
    name: str,
    profile: str | None,
    body: Path | None,
    to: str | None,
    as_json: bool,
    **flags: Any,
) -> int:
    """Post a message to a gateway, signed as its provider would sign it.

    Exit 1 if the gateway does not take it. A provider that signs with a private key can be played
    only where the gateway has made the key itself: while its upstream is a mock.
    """
    settings = settings_of(flags)
    source, event = _named(open_project(settings), name)
    chosen, secret, tenant = signing_secret(settings, source, event, profile)
    payload = _example(settings, source, event) if body is None else _read(body)
    if body is None and chosen.message_id is not None:
        _name_anew(payload, chosen.message_id.pointer)
    base = to or _own(settings)
    request = unsigned_request(settings, source, event, chosen, payload, base)
    answer = _post(signed_request(request, chosen, secret, tenant), base)
    if as_json:
        print_json({"status": answer.status_code, "answer": _value(answer)})
    else:
        click.echo(plain(f"{answer.status_code} {_told(_value(answer))}"))
    return OK if answer.is_success else FINDINGS


def _named(catalogue: Catalogue, name: str) -> tuple[WebhookSource, WebhookEvent]:
    provider, _, kind = name.partition(".")
    declared = catalogue.webhooks.get(provider)
    if declared is None:
        fix = f"draft it with `gateway new webhook {provider}`"
        if provider not in preset_names():
            known = ", ".join(catalogue.webhooks) or "none: draft one with `gateway new webhook`"
            fix = hint(provider, catalogue.webhooks, f"known are {known}")
        raise ConfigurationError(f"there is no webhook provider {provider}; {fix}")
    if not kind:
        return declared.source, declared.source.events[0]
    event = declared.events.get(kind)
    if event is None:
        raise ConfigurationError(
            f"{provider} has no event {kind}; known are {', '.join(declared.events)}"
        )
    return declared.source, event


def signing_secret(
    settings: Settings, source: WebhookSource, event: WebhookEvent, wanted: str | None
) -> tuple[Profile, str, str]:
    """The profile, its first secret, and the tenant of it. Raises `ConfigurationError`."""
    found = settings.for_webhook(source)
    if found.problem is not None:
        raise ConfigurationError(found.problem)
    names = event.profiles if wanted is None else (wanted,)
    for each in source.profiles:
        if each.name not in names:
            continue
        if secrets := found.secrets.get(each.name):
            return each, secrets[0].reveal(), (*found.tenants.get(each.name, ()), "")[0]
        made = settings.data / FOLDER / f"{source.provider}-{each.name}"
        if not found.secrets and made.is_file():
            return each, made.read_text("utf-8").strip(), "" if each.tenant is None else "sample"
    variable = secrets_name(source.provider, names[0]).variable
    raise ConfigurationError(
        f"there is no secret to sign with; set {variable}, or start the gateway with all upstreams "
        "mocked, which makes one"
    )


def _read(body: Path) -> Any:
    try:
        return jsontext.decode(body.read_bytes())
    except jsontext.NotJson as error:
        raise ConfigurationError(
            f"{body} is not JSON: {error}; correct it, or leave --body out: an example is sent then"
        ) from None


def _example(settings: Settings, source: WebhookSource, event: WebhookEvent) -> Any:
    path = PurePosixPath(WEBHOOKS, source.provider, f"{payload_stem(event.type)}.payload.json")
    document = read_tree(settings.schemas).documents.get(path)
    examples = [] if document is None else document.value.get("examples", [])
    if not examples:
        raise ConfigurationError(f"{path} has no examples; add one, or give the message by --body")
    return examples[0]


def _name_anew(payload: Any, pointer: str | None) -> None:
    """Give an example an id that no message had, so that it is not taken for a repetition."""
    if not pointer:
        return
    *way, last = steps(pointer)
    for step in way:
        payload = payload.get(step) if isinstance(payload, dict) else None
    if isinstance(payload, dict) and last in payload:
        new = uuid4()
        is_number = isinstance(payload[last], int)
        payload[last] = new.int % 2**31 if is_number else f"{payload[last]}-{new.hex[:8]}"


def _own(settings: Settings) -> str:
    host = "127.0.0.1" if settings.host in _ANY else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def unsigned_request(
    settings: Settings,
    source: WebhookSource,
    event: WebhookEvent,
    profile: Profile,
    payload: Any,
    base: str,
) -> Received:
    """The request without what authenticates it."""
    form = profile.body
    media_type = source.media_types[0]
    if form.field is not None:
        content = urlencode({form.field: jsontext.encode(payload).decode()}).encode()
    elif form.is_form:
        content = urlencode(payload, doseq=True).encode()
    elif form.batch is not None:
        content = jsontext.encode(_within(form.batch, [payload]))
    else:
        content = jsontext.encode(payload)
    fields = [(b"content-type", media_type.encode())]
    if profile.event_type.header is not None:
        fields.append((profile.event_type.header.encode(), event.type.encode("latin-1", "replace")))
    url = f"{(settings.public_url or base).rstrip('/')}/webhooks/{source.provider}"
    known = settings.for_webhook(source).settings
    for missing in sorted(profile.authentication.signed_settings - known.keys()):
        raise ConfigurationError(unsigned(source, missing))
    return Received(fields=fields, body=content, url=url, settings=known)


def _within(pointer: str, messages: list[Any]) -> Any:
    """`messages` at `pointer`, in objects that have nothing else."""
    found: Any = messages
    for step in reversed(steps(pointer)):
        found = {step: found}
    return found


def signed_request(request: Received, profile: Profile, secret: str, tenant: str) -> Received:
    """The request with what authenticates it. Raises `ConfigurationError`."""
    scheme, message_id = profile.authentication, str(uuid4())
    if profile.tenant is not None:
        request = profile.tenant.with_text(request, tenant)
    try:
        keys = [scheme.key_of(secret)]
        request = scheme.authenticated(keys, request, message_id, int(time.time()))
    except InvalidSecret as error:
        raise ConfigurationError(
            f"the secret of {profile.name} {error}: only its owner can sign; start the gateway with"
            " all upstreams mocked and without this secret, and it makes its own"
        ) from None
    except ValueError as error:
        raise ConfigurationError(f"it cannot be signed: {error}; see the contract") from None
    place = profile.message_id
    if place is None or place.header is None or only_value(request.fields, place.header):
        return request
    return replace(request, fields=[*request.fields, (place.header.encode(), message_id.encode())])


def _post(request: Received, base: str) -> httpx2.Response:
    """Post it to `base`, under the path of the address that was signed."""
    at = urlsplit(request.url)
    target = f"{base.rstrip('/')}{at.path[at.path.index('/webhooks/') :]}"
    url = f"{target}?{at.query}" if at.query else target
    headers = [(name.decode(), value.decode("latin-1")) for name, value in request.fields]
    try:
        return httpx2.post(url, content=request.body, headers=headers, timeout=_TIMEOUT_SECONDS)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ConfigurationError(
            f"{base} did not answer ({type(error).__name__}); start the gateway there with "
            "`gateway serve`, or name it with --to"
        ) from None


def _told(answer: Any) -> str:
    """What a gateway answers, for people; what something else answers as it is."""
    match answer:
        case {"outcome": outcome, "id": webhook_id}:
            return f"{outcome}; see: gateway webhooks show {webhook_id}"
        case {"detail": detail}:
            return str(detail)
    return str(answer)


def _value(answer: httpx2.Response) -> Any:
    try:
        return jsontext.decode(answer.content)
    except jsontext.NotJson:
        return answer.text


_STATES: Final = get_args(JobState)
_CONFLICT: Final = "another message with the same id and a different body"
_COLUMNS: Final = ("id", "received_at", "provider", "event_type", "state", "attempts", "error")


@click.group(
    cls=WholeGroup, name="webhooks", epilog="Example: gateway webhooks list --state dead_letter"
)
def command() -> None:
    """List received webhooks and their state, process them again, and send one."""


command.add_command(send)


@command.command(
    "list", epilog="Example: gateway webhooks list --provider avinode --state dead_letter --json"
)
@click.option("--provider", help="Only messages of this provider.")
@click.option("--event-type", help="Only events of this type.")
@click.option("--state", type=click.Choice(_STATES), help="Only webhooks in this state.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@operator_options
def list_webhooks(
    *,
    provider: str | None,
    event_type: str | None,
    state: str | None,
    limit: int,
    as_json: bool,
    **flags: Any,
) -> None:
    """List webhooks, newest first: id, arrival, provider, event, state."""
    query = {"provider": provider, "event_type": event_type, "state": state}

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        return [each async for each in operator.pages("/operator/webhooks", query, limit)]

    found = run_operator(flags, ask)
    if as_json:
        print_json(found)
    else:
        print_table(_COLUMNS, map(_row, found))


@command.command("show", epilog="Example: gateway webhooks show 019a8f3e-…")
@click.argument("webhook_id", type=ID)
@operator_options
def show(*, webhook_id: str, as_json: bool, **flags: Any) -> None:
    """Show one webhook: its payload as received, its violations, and each attempt."""
    found = run_operator(flags, lambda operator: operator.ask("GET", _path(webhook_id)))
    if as_json:
        print_json(found)
        return
    for name in ("id", "provider", "profile", "event_type", "message_id", "received_at", "state"):
        click.echo(plain(f"{name:12} {found[name]}"))
    for refusal in found["refusals"]:
        click.echo(plain(f"{'breaks':12} {place_of(refusal)}"))
    for attempt in found["history"]:
        what = " ".join(filter(None, (attempt["error"], attempt["detail"])))
        line = f"{'attempt':12} {attempt['ended_at']} {attempt['outcome']} {what}"
        click.echo(plain(line.rstrip()))
    click.echo("payload")
    print_json(found["payload"])


@command.command(
    "replay", epilog="Example: gateway webhooks replay 019a8f3e-… ; with --force if completed"
)
@click.argument("webhook_ids", type=ID, nargs=-1, required=True, metavar="WEBHOOK_ID...")
@click.option(
    "--force", is_flag=True, help="Also replay completed webhooks: their effects are repeated."
)
@operator_options
def replay(*, webhook_ids: tuple[str, ...], force: bool, as_json: bool, **flags: Any) -> int:
    """Process ended webhooks again, with a new set of attempts."""

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        with counted("replaying", len(webhook_ids)) as step:
            return [
                await tried(operator, f"{_path(each)}/replay", {"force": force}, each, step)
                for each in webhook_ids
            ]

    return report_each(run_operator(flags, ask), as_json=as_json, done="is pending again")


@command.command(
    "quarantine", epilog="Example: gateway webhooks quarantine --revalidate --provider avinode"
)
@click.option("--provider", help="Only messages of this provider.")
@click.option("--event-type", help="Only events of this type.")
@click.option(
    "--revalidate",
    is_flag=True,
    help="Validate each against the current contract; process the valid ones.",
)
@operator_options
def quarantine(
    *,
    provider: str | None,
    event_type: str | None,
    revalidate: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """List authentic messages that break their contract, with their violations."""
    query = {"provider": provider, "event_type": event_type, "state": "quarantined"}

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        held = [each async for each in operator.pages("/operator/webhooks", query, None)]
        if not revalidate:
            return held
        checked = [each for each in held if not each["is_conflict"]]
        with counted("checking", len(checked)) as step:
            return [
                await tried(operator, f"{_path(each['id'])}/revalidate", {}, each["id"], step)
                for each in checked
            ]

    found = run_operator(flags, ask)
    if revalidate:
        return report_each(found, as_json=as_json, done="is valid now and will be processed")
    if as_json:
        print_json(found)
    else:
        print_table(("id", "provider", "event_type", "breaks"), _refusals(found))
    return OK


def _path(webhook_id: str) -> str:
    return f"/operator/webhooks/{segment(webhook_id)}"


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    job = each["job"]
    values = {**each, "attempts": f"{job['attempts']}/{job['max_attempts']}", "error": job["error"]}
    return tuple(str(values[name] or "") for name in _COLUMNS)


def _refusals(found: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (each["id"], each["provider"], each["event_type"], violation)
        for each in found
        for violation in ([_CONFLICT] if each["is_conflict"] else map(place_of, each["refusals"]))
    ]
