"""`gateway call`."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click

from gateway.app import Gateway
from gateway.auth.keys import ADMINISTRATOR
from gateway.auth.principal import Credentials
from gateway.calls.call import Call, CallBounds
from gateway.calls.idempotency import read_key
from gateway.catalogue import Entry
from gateway.cli.jobs import announce_job, follow_job
from gateway.cli.local import report_new_key, start_logs
from gateway.cli.options import (
    OPENING,
    refuse_mixed,
    remote_key,
    remote_options,
    settings_of,
    settings_options,
    work_policy,
)
from gateway.cli.project import known_agent, known_tool, open_project
from gateway.cli.remote import RemoteAnswer, ask_remote, print_answer
from gateway.contract.values import jsontext
from gateway.errors import GatewayError, MalformedRequest
from gateway.settings import Settings
from gateway.transports.http.asgi import new_request_id
from gateway.transports.http.problems import problem_of


@click.command(epilog="""Example: gateway call example.greet --json '{"name": "Alice"}'""")
@click.argument("operation")
@click.option(
    "--json",
    "arguments",
    default="{}",
    metavar="OBJECT",
    help="The arguments, a JSON object; `-` reads it from standard input.  [default: {}]",
)
@click.option("--agent", help=f"Call as this agent.  [default: {ADMINISTRATOR}]")
@click.option(
    "--idempotency-key",
    "key",
    metavar="TEXT",
    help="Makes a call that writes safe to repeat: the same key has its effect once.",
)
@click.option(
    "--wait",
    "is_waiting",
    is_flag=True,
    help="If the call becomes a job at --url, wait for its result. Calls in this process do.",
)
@remote_options
@settings_options(*OPENING)
def command(
    *,
    operation: str,
    arguments: str,
    agent: str | None,
    key: str | None,
    url: str | None,
    key_file: Path | None,
    **flags: Any,
) -> int:
    """Call OPERATION and print its result as JSON.

    Runs in this process, or at the gateway of --url, where the key identifies the agent. If the
    call is refused, prints the problem as JSON and exits with 1. Notes on standard error say which
    upstreams are mocks beside live ones, and what the result lacks. If it becomes a job, prints the
    job, and the command that follows it on standard error.
    """
    refuse_mixed(url, key_file, {"--agent": agent})
    settings = settings_of(flags)
    bounds = CallBounds(idempotency_key=None if key is None else _checked_key(key))
    # The raw bytes: the strict decoder checks that they are UTF-8.
    text = (
        sys.stdin.buffer.read() if arguments == "-" else arguments.encode(errors="surrogateescape")
    )
    if url is None:
        catalogue = open_project(settings)
        # Check first, because opening the gateway creates missing files.
        entry = known_tool(catalogue, operation, settings.server_name)
        caller = known_agent(catalogue, agent or ADMINISTRATOR)
        start_logs(settings, is_quiet=True, catalogue=catalogue)
        gateway = Gateway.open(settings)
        gateway.set_work_policy(work_policy())
        gateway.set_catalogue(catalogue)
        answer = asyncio.run(_call_here(gateway, settings, entry, caller, text, bounds))
    else:
        secret = remote_key(settings, key_file)
        answer = ask_remote(url, secret, operation, text, key)
        if answer.job_id is not None:
            announce_job(answer.job_id, url, key_file)
            if flags["is_waiting"]:
                return follow_job(url, secret, answer.job_id)
    return print_answer(answer)


def _checked_key(text: str) -> str:
    try:
        return read_key(text)
    except MalformedRequest as error:
        raise click.UsageError(f"--idempotency-key: {error.detail}") from None


async def _call_here(
    gateway: Gateway,
    settings: Settings,
    entry: Entry,
    agent: str,
    text: bytes,
    bounds: CallBounds,
) -> RemoteAnswer:
    async with gateway:
        report_new_key(gateway.parts.new_key, settings)
        call = Call(
            operation_id=entry.id,
            credentials=Credentials(),
            arguments=text,
            transport="local",
            request_id=new_request_id(),
            bounds=bounds,
        )
        try:
            result = await gateway.local_pipeline(agent).invoke(call)
            return RemoteAnswer(
                is_result=True,
                text=result.whole_text,
                mocked=", ".join(result.mocked),
                left_out=len(result.left_out),
            )
        except GatewayError as error:
            problem = problem_of(error, call.request_id)
            return RemoteAnswer(is_result=False, text=jsontext.encode(problem))
