"""How far a change raises the version of a contract, and what `contracts.lock` lacks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Final

from msgspec import Struct

from gateway.authoring.contracts.finding import Finding
from gateway.authoring.diff.changes import ChangeVerdict, ContractChange
from gateway.authoring.diff.facets import KINDS, Facets
from gateway.authoring.diff.rules import RULES
from gateway.authoring.versions.lock import (
    SEMVER,
    Key,
    Lock,
    LockEntry,
    RecordedLock,
    lock_finding,
    pointer_to,
)
from gateway.contract.values.nearest import hint


class Bump(IntEnum):
    """By how much a version is raised (Semantic Versioning 2.0.0)."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


_OF_VERDICTS: Final = {
    ChangeVerdict.BREAKING: Bump.MAJOR,
    ChangeVerdict.UNDECIDED: Bump.MAJOR,
    ChangeVerdict.SAFE: Bump.MINOR,
}
"""What is not proved counts as breaking: a version promises."""
_OF_SEVERITIES: Final = {"error": Bump.MAJOR, "warning": Bump.MINOR, "info": Bump.PATCH}
_PATCHES: Final = frozenset(
    {
        "binding-operation-changed",
        "event-changed-without-version",
        "param-description-changed",
        "tool-description-changed",
    }
)
"""Rules of texts and of what is behind a contract. What the data may be is proved beside them."""


def bump_of(change: ContractChange) -> Bump:
    """What `change` needs. An author's severity is about merging, and does not lower it."""
    if change.verdict is not ChangeVerdict.POLICY:
        return _OF_VERDICTS[change.verdict]
    return Bump.PATCH if change.rule in _PATCHES else _OF_SEVERITIES[RULES[change.rule].severity]


def raised(version: str, bump: Bump) -> str:
    """`version` with `bump`. Below 1.0.0 all is one place lower, as nothing is promised yet."""
    major, minor, patch = _numbers(version)
    if bump is Bump.NONE:
        return version
    place = bump if major else max(bump - 1, Bump.PATCH)
    if place == Bump.MAJOR:
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if place == Bump.MINOR else f"{major}.{minor}.{patch + 1}"


def is_enough(version: str, old: str, bump: Bump) -> bool:
    """Whether `version` is `old` with `bump`, or later."""
    return _numbers(version) >= _numbers(raised(old, bump))


def later(one: str, other: str) -> str:
    """The later of two versions."""
    return max(one, other, key=_numbers)


def _numbers(version: str) -> tuple[int, ...]:
    found = SEMVER.fullmatch(version)
    return tuple(map(int, found.groups())) if found else (0, 0, 0)


class Need(Struct, frozen=True, kw_only=True):
    """What one contract needs, and why."""

    bump: Bump = Bump.NONE
    facets: tuple[str, ...]
    """Those that changed."""
    changes: tuple[ContractChange, ...] = ()
    """The most severe first. Empty without a proof, and for a change that no rule is about."""

    @property
    def reason(self) -> str:
        """One line: the most severe change, or the facets."""
        if self.changes:
            first = self.changes[0]
            more = f", and {len(self.changes) - 1} more" if self.changes[1:] else ""
            return f"{first.rule}: {first.text}{more}"
        return f"changed: {', '.join(self.facets)}"


_SCHEMAS: Final = frozenset({"input", "output"})


def needs(
    old: Mapping[Key, Facets], new: Mapping[Key, Facets], changes: Sequence[ContractChange] | None
) -> dict[Key, Need]:
    """What the contracts that changed and are on both sides need, by their key.

    Without `changes`, facets alone decide: input and output need a minor version at least.
    """
    found: dict[Key, Need] = {}
    for key in sorted(old.keys() & new.keys()):
        own, unlike = _own(changes or (), key), old[key].unlike(new[key])
        is_by_hash = changes is None and not _SCHEMAS.isdisjoint(unlike)
        least = Bump.MINOR if is_by_hash else Bump.PATCH
        if own or unlike:
            bump = max([least, *map(bump_of, own)])
            found[key] = Need(bump=bump, facets=unlike, changes=own)
    return found


def _own(changes: Iterable[ContractChange], key: Key) -> tuple[ContractChange, ...]:
    """The changes of one contract, the most severe first."""
    found = (each for each in changes if _is_of(each, key))
    return tuple(sorted(found, key=lambda each: (-bump_of(each), each.rule, each.text)))


def others(changes: Iterable[ContractChange], keys: Iterable[Key]) -> list[ContractChange]:
    """The changes that are about no contract of `keys`: of agents, upstreams and lists."""
    known = list(keys)
    return [each for each in changes if not any(_is_of(each, key) for key in known)]


def _is_of(change: ContractChange, key: Key) -> bool:
    kind, id_ = key
    # The types of a webhook's messages are subjects: `avinode rfq_received`.
    is_below = kind == "webhook" and change.subject.startswith(f"{id_} ")
    return is_below or change.subject == id_


# What the lint finds in the lock.


class Release:
    """The lock of a release, and what changed since. The proof is made when it is needed."""

    def __init__(
        self, lock: Lock, name: str, prove: Callable[[], Sequence[ContractChange]]
    ) -> None:
        """`prove` raises `LookupError` if the contracts of the release cannot be read."""
        self.lock = lock
        self.name = name
        """The commit, for messages."""
        self._prove = prove

    @cached_property
    def changes(self) -> Sequence[ContractChange] | None:
        """All changes since. None: they are not known."""
        try:
            return self._prove()
        except LookupError:
            return None


def version_findings(
    recorded: RecordedLock,
    now: Mapping[Key, Facets],
    last: Release | None,
    before: Release | None,
) -> Iterator[Finding]:
    """What is wrong with the recorded versions of contracts with the facets `now`.

    `last` is the release that was committed last, and `before` the one before it. None: git has
    none. Then what the versions were before is not known, and facets alone decide.
    """
    lock = recorded.lock
    yield from _strangers(recorded, now)
    stale = [key for key in _both(lock, now) if lock.entries[key].facets != now[key]]
    yield from _stale(recorded, now, stale, last)
    base = before if last is None or last.lock.entries == lock.entries else last
    if base is not None:
        settled = [key for key in _both(lock, now) if key not in stale]
        yield from _small(recorded, now, settled, base)


def _both(lock: Lock, now: Mapping[Key, Facets]) -> list[Key]:
    return sorted(lock.entries.keys() & now.keys())


def _strangers(recorded: RecordedLock, now: Mapping[Key, Facets]) -> Iterator[Finding]:
    known = recorded.lock.entries
    for kind, id_ in sorted(now.keys() - known.keys()):
        message = f"the {kind} {id_} has no entry"
        yield lock_finding("version/entry-missing", message)
    for key in sorted(known.keys() - now.keys()):
        kind, id_ = key
        nearest = hint(id_, [each for of, each in now if of == kind], "it was removed or renamed")
        message = f"there is no {kind} {id_}; {nearest}"
        yield recorded.finding("version/entry-unknown", pointer_to(key), message)


def _stale(
    recorded: RecordedLock, now: Mapping[Key, Facets], stale: list[Key], last: Release | None
) -> Iterator[Finding]:
    """Findings for entries whose hashes are not those of the contract."""
    entries = recorded.lock.entries
    if not stale:
        return
    released = last.lock if last else recorded.lock
    found = needs(released.facets, now, last.changes if last else None)
    for key in stale:
        entry, was = entries[key], released.entries.get(key)
        pointer = pointer_to(key)
        if was is None or entry.facets != was.facets:
            facets = ", ".join(entry.facets.unlike(now[key]))
            message = f"the hashes of {key[1]} ({facets}) are of no contract that git or this"
            yield recorded.finding("version/lock-edited", pointer, f"{message} folder has")
        elif entry.version == was.version:
            text = f"{key[1]} is not what it was at {was.version}"
            yield recorded.finding(
                "version/bump-missing", f"{pointer}/version", _told(text, was, found[key], last)
            )
        elif not is_enough(entry.version, was.version, found[key].bump):
            yield _too_small(recorded, key, was, found[key], last)
        else:
            message = f"the version of {key[1]} is {entry.version}, its hashes are of {was.version}"
            yield recorded.finding("version/lock-edited", pointer, message)


def _small(
    recorded: RecordedLock, now: Mapping[Key, Facets], settled: list[Key], base: Release
) -> Iterator[Finding]:
    """Findings for entries that were raised since `base`, but not as far as needed."""
    entries, was = recorded.lock.entries, base.lock.entries
    asked = {
        key
        for key in settled
        if key in was
        and was[key].facets != now[key]
        # What is raised by the most that there is needs no proof.
        and not is_enough(entries[key].version, was[key].version, Bump.MAJOR)
    }
    if not asked:
        return
    found = needs(base.lock.facets, now, base.changes)
    for key in sorted(asked):
        if not is_enough(entries[key].version, was[key].version, found[key].bump):
            yield _too_small(recorded, key, was[key], found[key], base)


def _too_small(
    recorded: RecordedLock, key: Key, was: LockEntry, need: Need, base: Release | None
) -> Finding:
    version = recorded.lock.entries[key].version
    text = f"{version} is too near to {was.version} of {key[1]}"
    pointer = f"{pointer_to(key)}/version"
    return recorded.finding("version/bump-too-small", pointer, _told(text, was, need, base))


def _told(text: str, was: LockEntry, need: Need, base: Release | None) -> str:
    """`text`, with the version that is needed and what is known of the change."""
    least = raised(was.version, need.bump)
    if base is None or base.changes is None:
        return (
            f"{text}, and needs {least} at least ({need.reason}; only the hashes were compared:"
            " the contracts of the last release are not in git)"
        )
    return f"{text}, and needs {least} ({need.reason}; since {base.name})"


# What a release does.


class VersionStep(Struct, frozen=True, kw_only=True):
    """What a release does to the version of one contract."""

    kind: str
    id: str
    old: str | None
    """None: the contract is new."""
    new: str | None
    """None: the contract is gone."""
    bump: Bump
    need: Need

    @property
    def key(self) -> Key:
        """Kind and id."""
        return self.kind, self.id


def steps_of(
    released: Lock,
    now: Mapping[Key, Facets],
    changes: Sequence[ContractChange] | None,
    declared: Lock,
    first: str,
) -> list[VersionStep]:
    """What a release does, sorted by kind and id. Contracts that did not change have no step.

    `declared` are versions that an author has written: they are kept if they are high enough.
    """
    found = needs(released.facets, now, changes)
    was, written = released.entries, declared.entries
    steps = []
    for key in sorted(was.keys() | now.keys(), key=lambda each: (KINDS.index(each[0]), each[1])):
        kind, id_ = key
        old = was[key].version if key in was else None
        need = found.get(key, Need(facets=(), changes=_own(changes or (), key)))
        if key not in now:
            gone = Bump.MAJOR
            steps.append(VersionStep(kind=kind, id=id_, old=old, new=None, bump=gone, need=need))
            continue
        least = raised(old, need.bump) if old else first
        new = later(least, written[key].version) if key in written else least
        if old is None or need.bump or new != old:
            bump = need.bump if old else Bump.MINOR
            steps.append(VersionStep(kind=kind, id=id_, old=old, new=new, bump=bump, need=need))
    return steps
