"""Which bugs that are planted into the gateway `gateway test` finds by itself.

Each bug is a text of the gateway's source that occurs once, and its replacement. Each is planted in
a copy of the tree, where the suite runs within a budget until something fails. What fails without
any bug finds none. `false_alarms.py` shows the other side: that the suite finds no bug in valid
cases.

    python scripts/chaos/teeth.py --list
    python scripts/chaos/teeth.py --budget 120s --json > teeth.json
    python scripts/chaos/teeth.py --bug pointer -- -k boundary

Exit status: 0 if at most one bug survives, 1 if more do, 2 if it cannot run.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bugs import Tree, copied
from gateways import ROOT, ChaosError
from msgspec import Struct

_HUNG_SECONDS: Final = 900.0
_SETTINGS: Final = "GATEWAY_"
"""How the variables begin that would change what is tested."""


class Bug(Struct, frozen=True):
    """A planted bug."""

    name: str
    path: str
    was: str
    becomes: str

    def planted(self, tree: Path) -> dict[str, bytes]:
        """The file to change. Raises `ChaosError` if the text does not occur once."""
        source = (tree / self.path).read_text()
        if source.count(self.was) != 1:
            number = source.count(self.was)
            raise ChaosError(f"{self.path} has the text of '{self.name}' {number} times, not once")
        return {self.path: source.replace(self.was, self.becomes).encode()}


_GATE: Final = "    validator = entry.input\n"
_VALIDATION: Final = "gateway/calls/validation.py"
_RESULTS: Final = "gateway/transports/mcp/results.py"
_KEYS: Final = "gateway/calls/idempotency.py"
_KINDS: Final = "gateway/transports/http/problem_kinds.py"
_REPLIES: Final = "gateway/calls/replies.py"
_CACHE: Final = "gateway/calls/caching/reads.py"
_SCHEMA: Final = "gateway/contract/values/schema.py"


def _before_gate(name: str, change: str) -> Bug:
    """The arguments are changed before they are validated."""
    kept = f"    if isinstance(values, dict):\n        values = {change}\n"
    return Bug(name, _VALIDATION, _GATE, f"{kept}{_GATE}")


BUGS: Final = (
    _before_gate(
        "texts of digits are taken for numbers",
        "{n: int(v) if isinstance(v, str) and v.isdigit() else v for n, v in values.items()}",
    ),
    _before_gate(
        "a null is taken for an absent argument",
        "{n: v for n, v in values.items() if v is not None}",
    ),
    _before_gate(
        "unknown arguments are dropped",
        "{n: v for n, v in values.items() if n in entry.listing.input_schema['properties']}",
    ),
    _before_gate(
        "long lists of arguments lose their end",
        "{n: v[:1] if isinstance(v, list) else v for n, v in values.items()}",
    ),
    _before_gate(
        "white space around texts is removed",
        "{n: v.strip() if isinstance(v, str) else v for n, v in values.items()}",
    ),
    Bug(
        "arguments are not validated", _VALIDATION, "if not validator.admits(values):", "if False:"
    ),
    Bug(
        "results are not checked",
        _VALIDATION,
        "    if not validator.admits(outcome.values):\n        raise InvalidResult(validator.viol",
        "    if False:\n        raise InvalidResult(validator.viol",
    ),
    Bug(
        "the last item of each list of a result is lost in the text",
        _VALIDATION,
        "    text = jsontext.encode(outcome.values)\n    if hidden",
        "    text = jsontext.encode({n: v[:-1] if isinstance(v, list) else v"
        " for n, v in outcome.values.items()})\n    if hidden",
    ),
    Bug(
        "nulls of a result are dropped in the text",
        _VALIDATION,
        "    text = jsontext.encode(outcome.values)\n    if hidden",
        "    text = jsontext.encode({n: v for n, v in outcome.values.items()"
        " if v is not None})\n    if hidden",
    ),
    Bug("the escalation needs nothing", _VALIDATION, "    if lacking:\n", "    if False:\n"),
    Bug(
        "`fields` leaves nothing out",
        _VALIDATION,
        "values = selected(result.values, selection)",
        "values = result.values",
    ),
    Bug(
        "invalid arguments are 400",
        _KINDS,
        "    errors.InvalidArguments: ProblemKind(\n        422,",
        "    errors.InvalidArguments: ProblemKind(\n        400,",
    ),
    Bug(
        "pointers lack their last step",
        _SCHEMA,
        "return pointer_of(str(step)[:_MAX_NAME] for step in path)",
        "return pointer_of(str(step)[:_MAX_NAME] for step in path[:-1])",
    ),
    Bug(
        "formats are not asserted",
        _SCHEMA,
        "            validate_formats=True,\n",
        "            validate_formats=False,\n",
    ),
    Bug(
        "a refusal shows no violation",
        "gateway/transports/http/problems.py",
        "errors=tuple(map(_visible, _violations(known))) or UNSET",
        "errors=() or UNSET",
    ),
    Bug(
        "failures over MCP are no errors",
        _RESULTS,
        """b'}],"isError":true,"_meta":{"%s":' % PROBLEM_META""",
        """b'}],"isError":false,"_meta":{"%s":' % PROBLEM_META""",
    ),
    Bug(
        "failures over the SDK are no errors",
        _RESULTS,
        "        is_error=True,\n",
        "        is_error=False,\n",
    ),
    Bug(
        "the structured content is empty",
        _RESULTS,
        """(b',"structuredContent":', result.text)""",
        """(b',"structuredContent":', b"{}")""",
    ),
    Bug(
        "idempotency keys are ignored",
        _KEYS,
        "            key=call.key,\n",
        "            key=call.id,\n",
    ),
    Bug(
        "a key is one for all arguments",
        _KEYS,
        "_encode([operation, arguments])",
        "_encode([operation])",
    ),
    Bug(
        "signatures of webhooks are not checked",
        "gateway/webhooks/source.py",
        "            if tenant is not None:\n                return each.profile, tenant\n",
        "            if True:\n                return each.profile, tenant or ''\n",
    ),
    Bug(
        "every agent is granted every tool",
        "gateway/auth/authorize.py",
        "        return operation_id in self._grants.get(agent, frozenset())",
        "        return any(operation_id in each for each in self._grants.values())",
    ),
    Bug("replies are not checked", _REPLIES, "if schema.admits(body):", "if True:"),
    Bug(
        "a status that the contract does not know is a success",
        _REPLIES,
        'raise InvalidReply(f"The upstream\'s contract does not know the status {status}.")',
        "return None",
    ),
    Bug(
        "errors that a body reports are taken for results",
        _REPLIES,
        "        self._refuse_soft_errors(body)\n        if schema",
        "        if schema",
    ),
    Bug(
        "a forbidden call is sent again with a new token",
        "gateway/backends/http/client.py",
        "(reply.status == 401 and not refusal.is_ruled)",
        "(reply.status in {401, 403} and not refusal.is_ruled)",
    ),
    Bug(
        "a rate limit of the upstream is an outage",
        _REPLIES,
        "return UpstreamRateLimited(retry_after_seconds=self._retry_after(reply))",
        "return UpstreamUnavailable()",
    ),
    Bug(
        "values in paths are not encoded",
        "gateway/backends/wire.py",
        "{quote(value, safe='')}{edges",
        "{value}{edges",
    ),
    Bug(
        "members that occur twice are accepted",
        "gateway/contract/values/jsontext.py",
        "        _refuse_duplicate_names(text)\n",
        "        pass\n",
    ),
    Bug(
        "arguments that are no object are an unknown method over MCP",
        "gateway/transports/json_rpc.py",
        "INVALID_PARAMS: Final = -32602",
        "INVALID_PARAMS: Final = -32601",
    ),
    Bug(
        "hidden characters reach the caller",
        _VALIDATION,
        "    if hidden.may_hide(text):",
        "    if False:",
    ),
    Bug(
        "what one agent was answered is answered to all with its key",
        _KEYS,
        "            subject=grant.principal.subject,\n",
        '            subject="",\n',
    ),
    Bug(
        "a kept result answers other arguments too",
        _CACHE,
        "        name = encode_key([operation.id, arguments.values])\n",
        "        name = encode_key([operation.id])\n",
    ),
    Bug(
        "a kept result outlives a write",
        _CACHE,
        "        self._ended[connector] += 1\n",
        "        self._ended[connector] += 0\n",
    ),
    Bug(
        "grants of some arguments are grants of all",
        "gateway/auth/authorize.py",
        "        if narrowing is not None and (violations",
        "        if narrowing is None and (violations",
    ),
    Bug(
        "an upstream that repeats a credential shows it to the caller",
        "gateway/backends/http/client.py",
        "            if form in body:\n",
        "            if False:\n",
    ),
    Bug(
        "a default is another one than the contract says",
        "generated/bindings/ntfy/send_push_notification.py",
        'arguments.get("priority", "default")',
        'arguments.get("priority", "high")',
    ),
)


class Found(Struct, frozen=True):
    """What became of a bug."""

    bug: str
    seconds: float
    by: str | None
    """The first test that failed. None: it survived."""


def main() -> int:
    """Plant the bugs, and report."""
    options, more = _parser().parse_known_args()
    chosen = [bug for bug in BUGS if options.bug is None or options.bug in bug.name]
    if options.list:
        print("\n".join(f"{bug.name}  {bug.path}" for bug in chosen))
        return 0
    try:
        found = _tried(chosen, options, [each for each in more if each != "--"])
    except (ChaosError, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(_recorded(found, options.budget), indent=2))
    survivors = [each for each in found if each.by is None]
    print(f"{len(found) - len(survivors)} of {len(found)} bugs are found", file=sys.stderr)
    return 1 if len(survivors) > 1 else 0


def _recorded(found: Sequence[Found], budget: str) -> dict[str, object]:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.platform()}, "
        f"Python {platform.python_version()}",
        "budget": budget,
        "bugs": [{"bug": each.bug, "by": each.by, "seconds": each.seconds} for each in found],
    }


def _tried(bugs: Sequence[Bug], options: argparse.Namespace, more: list[str]) -> list[Found]:
    with tempfile.TemporaryDirectory(prefix="chaos-teeth-") as made:
        tree = copied(options.tree, Path(made) / "tree")
        for bug in bugs:
            bug.planted(tree.folder)  # all texts are there, before any time is spent
        # No bug is in the vectors that are kept, and none has to wait until they are made.
        tree.ended(["-m", "gateway", "vectors"], unset=_SETTINGS)
        if by := _first_failure(tree, options.budget, more):
            raise ChaosError(f"without any bug, this fails: {by}")
        return [_found(bug, tree, options.budget, more) for bug in bugs]


def _found(bug: Bug, tree: Tree, budget: str, more: list[str]) -> Found:
    began = time.monotonic()
    with tree.changed(bug.planted(tree.folder)):
        by = _first_failure(tree, budget, more)
    seconds = round(time.monotonic() - began, 1)
    print(f"{seconds:6.1f} s  {bug.name}: {by or 'SURVIVED'}", file=sys.stderr, flush=True)
    return Found(bug.name, seconds, by)


def _first_failure(tree: Tree, budget: str, more: list[str]) -> str | None:
    command = ["-m", "gateway", "test", "--budget", budget]
    quiet = ["--", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *more]
    by = tree.ended([*command, *quiet], _HUNG_SECONDS, _SETTINGS).shows(_HUNG_SECONDS)
    return None if by is None else by.rpartition("::")[2]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tree", type=Path, default=ROOT, help="the tree that is copied")
    parser.add_argument("--budget", default="120s", help="the time of each run (default 120s)")
    parser.add_argument("--bug", help="only bugs whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the bugs")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
