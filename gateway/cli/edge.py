"""The command line's single edge: whatever goes wrong becomes two lines and an exit code."""

import sys
from collections.abc import Sequence
from typing import Final

import click

from gateway.cli.commands import cli
from gateway.cli.doctor.diagnosis import parted
from gateway.cli.exits import CANNOT_RUN, FINDINGS, INTERRUPTED, OK
from gateway.cli.plain import plain, plain_lines
from gateway.cli.refused import Refused
from gateway.cli.streams import Unwritable
from gateway.errors import (
    AddressInUse,
    ConfigurationError,
    GatewayError,
    OperatorError,
    StoreError,
)
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.settings import WrongSettings, each_wrong

_FIXES: Final[dict[type[OperatorError], str]] = {
    AddressInUse: "choose another port with --port (0 takes any free one), or stop that program",
    StoreError: "see `gateway doctor`, or name another folder with --data",
    OperatorError: "see `gateway doctor`",
}


def run(arguments: Sequence[str] | None = None, work: WorkPolicy = WORK_POLICY) -> int:
    """Run the command that `arguments` name (default: those of the process); its exit code.

    `work`: how a gateway that the command starts processes jobs.
    Raises nothing, unless Python's development mode (`python -X dev -m gateway`) asks for
    tracebacks.
    """
    try:
        code = int(cli.main(arguments, prog_name="gateway", standalone_mode=False, obj=work) or OK)
        # What a command left in the buffer can still fail to be written.
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return CANNOT_RUN
    except Exception as error:
        # Also a defect of the gateway itself: its user gets no traceback.
        if sys.flags.dev_mode:
            raise
        return _explain(_first(error))
    return code


def _explain(error: Exception) -> int:
    if isinstance(error, Unwritable) and error.is_unread:
        return OK
    for problem, fix in _explanations(error):
        print(plain_lines(f"error: {problem}"), file=sys.stderr)
        if fix:
            print(plain_lines(f"fix: {fix}"), file=sys.stderr)
    is_refused_call = isinstance(error, GatewayError) and not isinstance(error, OperatorError)
    return FINDINGS if is_refused_call else CANNOT_RUN


def _first(error: Exception) -> Exception:
    """The first error inside (nested) groups."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _explanations(error: Exception) -> list[tuple[str, str]]:
    if isinstance(error, WrongSettings):
        return [_said(ConfigurationError(each)) for each in each_wrong(error)]
    return [_explanation(error)]


def _explanation(error: Exception) -> tuple[str, str]:
    """What is wrong and how to fix it."""
    match error:
        case click.UsageError(ctx=context):
            path = context.command_path if context else "gateway"
            return error.format_message(), f"see `{path} --help`"
        case click.ClickException():
            return error.format_message(), ""
        case Unwritable(reason=reason):
            return f"the output cannot be written ({reason})", "send it to another place"
        case GatewayError():
            return _said(error)
        case _:
            return f"a defect of the gateway: {_defect(error)}", "report it with the command"


def _said(error: GatewayError) -> tuple[str, str]:
    if isinstance(error, Refused):
        return error.message, error.fix
    problem, fix = parted(plain(error.detail))
    if fix is None and isinstance(error, OperatorError):
        return problem, next(_FIXES[kind] for kind in type(error).__mro__ if kind in _FIXES)
    return problem, fix or ""


def _defect(error: Exception) -> str:
    """The error's class and place. Not its text: that may hold what the command was given."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    place = f" at {frame.tb_frame.f_code.co_qualname}:{frame.tb_lineno}" if frame else ""
    return f"{type(error).__name__}{place}"
