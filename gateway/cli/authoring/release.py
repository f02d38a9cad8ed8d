"""`gateway release`: the versions that the contracts need, the lock and the CHANGELOG."""

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, Final

import click
from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.codegen.ir import Contracts
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.contracts.finding import ContractRefused, errors
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.diff.changes import ContractChange
from gateway.authoring.diff.facets import contract_facets
from gateway.authoring.diff.git import commit_of, unknown
from gateway.authoring.lint import lint
from gateway.authoring.project.changes import Files
from gateway.authoring.project.staging import read_text
from gateway.authoring.versions.bumps import Bump, Release, VersionStep, others, steps_of
from gateway.authoring.versions.changelog import entries_of, notable, with_entries
from gateway.authoring.versions.history import History
from gateway.authoring.versions.lock import FILE, Lock, first_version, lock_of, read_lock
from gateway.cli.authoring.findings import changing, print_findings
from gateway.cli.options import json_option, project_folder, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import check_contracts, check_index
from gateway.errors import ConfigurationError
from gateway.settings import Settings

CHANGELOG: Final = PurePosixPath("CHANGELOG.md")
_NO_LOCK: Final = "the beginning"


class _Plan(Struct, frozen=True, kw_only=True):
    """What a release does."""

    since: str
    """The commit of the release before, or that there is none."""
    is_proved: bool
    """Whether the contracts of both sides were compared, and not only their hashes."""
    steps: tuple[VersionStep, ...]
    others: tuple[ContractChange, ...]
    """Notable changes that are about no contract."""
    files: Files
    """Those that change."""


@click.command(epilog="Example: gateway release --write")
@click.option("--since", metavar="REF", help="Commit to compare with.  [default: last release]")
@click.option("--write", is_flag=True, help="Write contracts.lock and CHANGELOG.md.")
@settings_options("schemas", "handler_packages")
@json_option
def command(*, since: str | None, write: bool, as_json: bool, **flags: Any) -> int:
    """Say which versions the contracts need, by what changed since the last release.

    The last release is the commit that changed `contracts.lock` last. A breaking change needs a
    major version, an addition a minor one, texts a patch. `--write` writes them to the lock with
    hashes of the contracts, and the changes to the group Contract of `CHANGELOG.md`. Commit both
    with the contracts. Without it, nothing is written. A repetition changes nothing.
    """
    settings = settings_of(flags)
    check_contracts(settings)
    check_index(settings)
    try:
        with progress("release") as step:
            plan = _released(settings, since, step, write=write)
    except ContractRefused as refused:
        print_findings(refused.findings, settings.schemas, "json" if as_json else "text")
        return FINDINGS
    _print(plan, is_written=write, as_json=as_json)
    return OK


def _released(
    settings: Settings, since: str | None, step: Callable[[str], None], *, write: bool
) -> _Plan:
    """The plan, carried out if `write` is true. Raises `OperatorError`, also as a refusal."""
    if not write:
        return _plan(settings, since, step)
    with changing(project_folder(settings), (FILE, CHANGELOG)) as held:
        plan = _plan(settings, since, step)
        held.place(plan.files)
    return plan


def _plan(settings: Settings, since: str | None, step: Callable[[str], None]) -> _Plan:
    folder = project_folder(settings)
    recorded = read_lock(folder)
    declared = recorded.lock if recorded else Lock()
    contracts = _contracts(settings, step)
    history = History(
        folder=folder, schemas=settings.schemas, packages=settings.handler_packages, step=step
    )
    release = _base(history, since, declared)
    now, first = contract_facets(contracts), first_version(contracts)
    changes = release.changes if release else None
    before = release.lock if release else declared
    steps = steps_of(before, now, changes, declared, first)
    versions = {each.key: each.new for each in steps if each.new}
    unchanged = {key: before.entries[key].version for key in before.entries.keys() & now.keys()}
    lock = lock_of(contracts, unchanged | versions, first)
    rest = notable(others(changes or (), {*now, *before.entries}))
    name = release.name if release else _NO_LOCK
    files = {FILE: lock.text().encode()}
    if steps or rest:
        files[CHANGELOG] = _changelog(folder, entries_of(steps, rest), name).encode()
    return _Plan(
        since=name,
        is_proved=changes is not None,
        steps=tuple(steps),
        others=tuple(rest),
        files={path: new for path, new in files.items() if _is_new(folder / path, new)},
    )


def _base(history: History, since: str | None, declared: Lock) -> Release | None:
    """What the contracts are compared with. None: only the hashes of the lock are known."""
    if since is None:
        return history.releases()[0]
    commit = commit_of(since, history.folder)
    if commit is None:
        why = unknown(history.folder, "leave --since out, and the lock decides")
        raise ConfigurationError(f"{since} is {why}")
    return history.release(commit) or history.since(commit, declared)


def _contracts(settings: Settings, step: Callable[[str], None]) -> Contracts:
    """The contracts of the project. Raises `ContractRefused` if they have errors."""
    step(f"reading {settings.schemas}")
    tree = read_tree(settings.schemas)
    if refusals := errors(lint(tree, packages=settings.handler_packages)):
        raise ContractRefused(refusals)
    return lower(tree)


def _changelog(folder: Path, entries: str, since: str) -> str:
    file = folder / CHANGELOG
    return with_entries(read_text(file) if file.exists() else None, entries, since)


def _is_new(file: Path, content: bytes) -> bool:
    return not file.is_file() or file.read_bytes() != content


def _print(plan: _Plan, *, is_written: bool, as_json: bool) -> None:
    files = sorted(map(str, plan.files))
    if as_json:
        steps = [_fields(each) for each in plan.steps]
        whole = max((each.bump for each in plan.steps), default=Bump.NONE)
        print_json(
            {
                "since": plan.since,
                "proved": plan.is_proved,
                "bump": whole.name.lower(),
                "contracts": steps,
                "others": plan.others,
                "files": files,
                "written": is_written,
            }
        )
        return
    if plan.steps:
        print_table(("contract", "was", "is", "bump", "because"), map(_row, plan.steps))
    for each in plan.others:
        click.echo(plain(f"also {each.subject}: {each.text} ({each.rule})"))
    if not plan.is_proved and any(each.old for each in plan.steps):
        click.echo(
            "note: only the hashes were compared, because git has no contracts of the last release;"
            " a breaking change may need more",
            err=True,
        )
    click.echo(plain(_summary(plan, files, is_written=is_written)))


def _summary(plan: _Plan, files: list[str], *, is_written: bool) -> str:
    if not files and (plan.steps or plan.others):
        return f"contracts.lock and CHANGELOG.md have all since {plan.since}; commit them"
    if not files:
        return f"nothing to release since {plan.since}"
    listed = " and ".join(files)
    if is_written:
        return f"{listed} written, {amount(len(plan.steps), 'contract')} since {plan.since}"
    return f"gateway release --write would write {listed}"


def _row(step: VersionStep) -> tuple[str, ...]:
    reason = step.need.reason if step.need.changes or step.need.facets else ""
    if step.old is None:
        reason = "new"
    if step.new is None:
        reason = "removed"
    name = f"{step.kind} {step.id}"
    return name, step.old or "", step.new or "", step.bump.name.lower(), reason


def _fields(step: VersionStep) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "id": step.id,
        "old": step.old,
        "new": step.new,
        "bump": step.bump.name.lower(),
        "facets": step.need.facets,
        "changes": step.need.changes,
    }
