#!/usr/bin/env python3
"""Check the answers of a running gateway to requests without, with and with wrong keys.

The checks are of authentication and authorization on every endpoint: MCP in both eras, REST, jobs,
events, documents and the operator's paths. They send no arguments that a tool accepts, so no tool
with a closed schema runs. Checks that need a key that was not given, or OAuth where the server has
none, are reported as not applicable.

Example: python scripts/conformance/resource_server.py http://127.0.0.1:8700 --key-file greeter.key
--admin-key-file data/bootstrap-key
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import httpx
import resource_oauth  # noqa: F401 - adds its checks
import resource_tools  # noqa: F401 - adds its checks
from msgspec import Struct
from resource_checks import CHECKS, Check
from resource_target import NotApplicable, Target

_KINDS: Final = {
    "admin": "a key that may call more tools",
    "revoked": "a key that was revoked",
    "expired": "a token that has expired",
    "foreign": "a token for another resource",
    "narrow": "a token without the scope of a tool",
}
_LAST: Final = ("no-token-in-answers", "problems")
"""They look at the answers to all others."""
_MOST_SHOWN: Final = 10


class Outcome(Struct, frozen=True, kw_only=True):
    """What one check found."""

    check: Check
    violations: tuple[str, ...] = ()
    not_applicable: str | None = None

    @property
    def word(self) -> str:
        """The outcome in a word."""
        if self.not_applicable is not None:
            return "not applicable"
        return "failed" if self.violations else "passed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit 0 if no check fails, 1 if one does, 2 for misuse or a server that does not answer."""
    options = _parser().parse_args(arguments)
    names = [check.name for check in CHECKS]
    unknown = [name for name in options.only if name not in names]
    if unknown:
        print(f"error: there is no check {unknown[0]}; see --list", file=sys.stderr)
        return 2
    if options.list:
        for each in CHECKS:
            print(f"{each.name}: {each.requires}")
        return 0
    if options.url is None or options.key_file is None:
        print("error: give the URL of a gateway, and --key-file", file=sys.stderr)
        return 2
    try:
        with _target(options) as target:
            outcomes = run(target, options.only)
    except (OSError, httpx.HTTPError, NotApplicable) as error:
        print(f"error: {options.url} cannot be checked: {error}", file=sys.stderr)
        return 2
    _print_json(outcomes) if options.json else _print(outcomes)
    return 1 if any(each.violations for each in outcomes) else 0


def run(target: Target, only: Sequence[str] = ()) -> list[Outcome]:
    """The outcome of each check. Raises `httpx.HTTPError` if the server does not answer.

    Raises `NotApplicable` if the key is not served.
    """
    target.granted()
    chosen = [each for each in CHECKS if not only or each.name in only]
    return [_outcome(each, target) for each in sorted(chosen, key=lambda e: e.name in _LAST)]


def _outcome(check: Check, target: Target) -> Outcome:
    try:
        found = tuple(dict.fromkeys(check.run(target)))
    except NotApplicable as reason:
        return Outcome(check=check, not_applicable=str(reason))
    return Outcome(check=check, violations=found)


def _target(options: argparse.Namespace) -> Target:
    others = {
        kind: _read(file) for kind in _KINDS if (file := getattr(options, f"{kind}_key_file"))
    }
    return Target(options.url, _read(options.key_file), others, options.issuer)


def _read(file: Path) -> str:
    return file.read_text("utf-8").strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", nargs="?", help="URL of the gateway, without /mcp")
    parser.add_argument("--key-file", type=Path, help="file with a key that may call some tools")
    for kind, meaning in _KINDS.items():
        parser.add_argument(f"--{kind}-key-file", type=Path, help=f"file with {meaning}")
    parser.add_argument("--issuer", help="URL of the authorization server that must be named")
    parser.add_argument("--only", action="append", default=[], metavar="CHECK")
    parser.add_argument("--list", action="store_true", help="print the checks, and run none")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    return parser


def _print(outcomes: Sequence[Outcome]) -> None:
    for each in outcomes:
        reason = f" ({each.not_applicable})" if each.not_applicable else ""
        print(f"{each.word}: {each.check.name}{reason}")
        if each.violations:
            print(f"  it requires: {each.check.requires}")
        for line in each.violations[:_MOST_SHOWN]:
            print(f"  - {line}")
        if len(each.violations) > _MOST_SHOWN:
            print(f"  and {len(each.violations) - _MOST_SHOWN} more")
    words = [each.word for each in outcomes]
    counts = (f"{words.count(word)} {word}" for word in ("passed", "failed", "not applicable"))
    print(", ".join(counts))


def _print_json(outcomes: Sequence[Outcome]) -> None:
    found = [
        {
            "check": each.check.name,
            "requires": each.check.requires,
            "outcome": each.word,
            "violations": list(each.violations),
            "reason": each.not_applicable,
        }
        for each in outcomes
    ]
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    sys.exit(main())
