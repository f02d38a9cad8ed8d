"""`gateway doctor --connect`: one read-only call to each live upstream."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from gateway.app import Gateway
from gateway.app.calling import local_call
from gateway.auth.keys import ADMINISTRATOR
from gateway.catalogue import Catalogue
from gateway.cli.doctor.diagnosis import Diagnosis, note, refused, sound, wrong
from gateway.cli.verification.imported import MADE, made_step
from gateway.cli.verification.plan import Step, steps
from gateway.contract.operation import Effect
from gateway.contract.refusals import with_sentence
from gateway.contract.values.hidden import visible_text
from gateway.errors import (
    GatewayError,
    OperatorError,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.settings import Secret, Settings

_MEMORY: Final = Secret("memory:")
_NOT_FOUND: Final = 404
_MOST_TRIED: Final = 20
"""How many imported reads are looked at for arguments that can be made."""


def connect(settings: Settings, catalogue: Catalogue) -> Iterator[Diagnosis]:
    """Call each live upstream with an example of a read-only tool.

    Imported documents have no examples: their arguments are made, so an upstream that refuses them
    as its document describes has answered. The gateway's state is kept in memory, and neither its
    database nor its data folder is used.
    """
    chosen = _chosen(settings, catalogue)
    for name, step in chosen.items():
        if step is None:
            yield note(f"connect {name}", "not called: it has no read-only tool")
    planned = {name: step for name, step in chosen.items() if step is not None}
    if not planned:
        if not chosen:
            yield note("connect", "no upstream is live")
        return
    try:
        yield from asyncio.run(_call_each(settings, planned))
    except OperatorError as error:
        yield refused("connect", error)


def _chosen(settings: Settings, catalogue: Catalogue) -> dict[str, Step | None]:
    """The call to make, or None, by live upstream."""
    found = {each.name: settings.for_upstream(each) for each in catalogue.upstreams.values()}
    live = [name for name, each in found.items() if each.backend == "live" and not each.problem]
    reads = [step for step in steps(catalogue) if step.entry.operation.effect is Effect.READ]
    by_example = {step.entry.operation.upstream: step for step in reversed(reads)}
    return {name: by_example.get(name) or _made(catalogue, name) for name in live}


def _made(catalogue: Catalogue, upstream: str) -> Step | None:
    """A call of an imported read, of those that need the fewest arguments."""
    found = [
        each
        for each in catalogue.entries
        if each.operation.is_imported
        and each.operation.upstream == upstream
        and each.operation.effect is Effect.READ
    ]
    found.sort(key=lambda each: len(each.listing.input_schema.get("required", ())))
    steps_made = (made_step(each) for each in found[:_MOST_TRIED])
    return next((each for each in steps_made if each is not None), None)


async def _call_each(settings: Settings, planned: dict[str, Step]) -> list[Diagnosis]:
    grants = {ADMINISTRATOR: frozenset(step.entry.id for step in planned.values())}
    with tempfile.TemporaryDirectory(prefix="gateway-connect-") as folder:
        apart = replace(
            settings,
            data=Path(folder),
            database_url=_MEMORY,
            workspace_url=_MEMORY,
            bootstrap_key=None,
        )
        async with Gateway.open(apart, grants=grants) as gateway:
            return [await _call(gateway, name, step) for name, step in planned.items()]


async def _call(gateway: Gateway, name: str, step: Step) -> Diagnosis:
    part, tool = f"connect {name}", step.entry.id
    pipeline = gateway.local_pipeline(ADMINISTRATOR)
    try:
        result = await pipeline.invoke(local_call(tool, step.arguments))
    except UpstreamRefusedCredentials as error:
        fix = f"renew the credentials of {name}; `gateway config` names their settings"
        return wrong(part, f"{tool}: {_said(error)}", fix)
    except UpstreamNotSetUp as error:
        return wrong(part, f"{tool}: {_said(error)}", f"do what it says, for {name}")
    except (UpstreamTimeout, UpstreamUnavailable) as error:
        fix = f"check the URL of {name} in `gateway config`, and the network"
        return wrong(part, f"{tool}: {_said(error)}", fix)
    except GatewayError as error:
        return _refused_call(part, step, error)
    if result.fallbacks:
        fix = f"check the URL of {name} in `gateway config`, and the network"
        return wrong(part, f"{tool} answered without it: {' '.join(result.fallbacks)}", fix)
    return sound(part, f"{tool} answered")


def _refused_call(part: str, step: Step, error: GatewayError) -> Diagnosis:
    """What a refusal tells. Only that the arguments name nothing shows that the API is there."""
    tool = step.entry.id
    if isinstance(error, ToolFailed) and error.status == _NOT_FOUND and step.example != MADE:
        return sound(part, f"{tool} answered: {error.reason}")
    if step.example == MADE and isinstance(error, ToolFailed | UpstreamRejected):
        answer = error.answer
        if answer is not None and answer.is_declared:
            return sound(part, f"{tool} answered: {_said(error)}")
        if answer is not None and answer.body is not UNSET:
            finding = f"{tool}: {_said(error)} The document describes no such answer"
            return note(part, finding, "see whether it is the answer of the API")
        return wrong(part, f"{tool}: {_said(error)}", "check the URL: this is no answer of an API")
    arguments = quote(msgspec.json.encode(step.arguments).decode())
    fix = f"try `gateway call {tool} --json {arguments}`"
    return wrong(part, f"{tool}: {_said(error)}", fix)


def _said(error: GatewayError) -> str:
    """The error, and what the upstream says about it."""
    return visible_text(with_sentence(error.detail, error.answer))[0]
