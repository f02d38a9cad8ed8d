"""The error handling of the command line: every error becomes two lines and an exit code."""

import sys
from collections.abc import Sequence
from typing import Final

import click

from gateway.cli.commands import cli
from gateway.cli.problems import (
    CANNOT_RUN,
    FINDINGS,
    INTERRUPTED,
    OK,
    Refused,
    parted,
    plain,
    plain_lines,
)
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
    AddressInUse: "choose another port with --port (0 selects any free port), or stop that program",
    StoreError: "see `gateway doctor`, or name another folder with --data",
    OperatorError: "see `gateway doctor`",
}


def run(arguments: Sequence[str] | None = None, work: WorkPolicy = WORK_POLICY) -> int:
    """Run the command in `arguments` (default: those of the process) and return its exit code.

    `work` is the work policy for a gateway that the command starts. Raises nothing, except in
    Python's development mode (`python -X dev -m gateway`), which shows tracebacks.
    """
    try:
        code = int(cli.main(arguments, prog_name="gateway", standalone_mode=False, obj=work) or OK)
        # Output that is still in the buffer can fail to be written.
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return CANNOT_RUN
    except Exception as error:
        # Also defects of the gateway itself: users get no traceback.
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
    """The first error in nested exception groups."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _explanations(error: Exception) -> list[tuple[str, str]]:
    if isinstance(error, WrongSettings):
        return [_parts(ConfigurationError(each)) for each in each_wrong(error)]
    return [_explanation(error)]


def _explanation(error: Exception) -> tuple[str, str]:
    """The problem and the fix."""
    match error:
        case click.UsageError(ctx=context):
            path = context.command_path if context else "gateway"
            return error.format_message(), f"see `{path} --help`"
        case click.ClickException():
            return error.format_message(), ""
        case Unwritable(reason=reason):
            return f"the output cannot be written ({reason})", "redirect it elsewhere"
        case GatewayError():
            return _parts(error)
        case _:
            return f"a defect of the gateway: {_defect(error)}", "report it with the command"


def _parts(error: GatewayError) -> tuple[str, str]:
    if isinstance(error, Refused):
        return error.message, error.fix
    problem, fix = parted(plain(error.detail))
    if fix is None and isinstance(error, OperatorError):
        return problem, next(_FIXES[kind] for kind in type(error).__mro__ if kind in _FIXES)
    return problem, fix or ""


def _defect(error: Exception) -> str:
    """The class and location of the error, without its text, which may contain arguments."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    location = f" at {frame.tb_frame.f_code.co_qualname}:{frame.tb_lineno}" if frame else ""
    return f"{type(error).__name__}{location}"
