"""`contracts.lock`: the version of each contract, and the hashes of its facets at that version."""

import re
from collections.abc import Iterator, Mapping
from json import dumps
from pathlib import Path, PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.codegen.ir import Contracts
from gateway.authoring.contracts.document import Document, read_bytes, read_document
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.yamltext import PLAIN_TEXT
from gateway.authoring.diff.facets import FACETS, KINDS, Facets, contract_facets
from gateway.authoring.lint.rules import BY_ID
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child, pointer_of

FILE: Final = PurePosixPath("contracts.lock")
"""Beside the schemas folder."""
SHOWN: Final = f"../{FILE}"
"""Its path in findings, which are relative to the schemas folder."""
FIRST: Final = "1.0.0"
SEMVER: Final = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")
_HASH: Final = re.compile(r"sha256:([0-9a-f]{64})")
_MARK: Final = "sha256:"
_CONFLICT: Final = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?: |$)", re.MULTILINE)
_HEAD: Final = """\
# The version of each contract, and hashes of what it accepts, answers, says and does.
# `gateway release --write` writes this file. After a conflict: keep either side, and run it again.
"""

Key = tuple[str, str]
"""The kind (`tool`, `webhook`, `event`) and the id of a contract."""


class LockEntry(Struct, frozen=True):
    """What is recorded of one contract."""

    version: str
    facets: Facets


class Lock(Struct, frozen=True, kw_only=True):
    """The content of the file."""

    entries: Mapping[Key, LockEntry] = {}

    @property
    def facets(self) -> dict[Key, Facets]:
        """The recorded facets."""
        return {key: entry.facets for key, entry in self.entries.items()}

    def text(self) -> str:
        """The text of the file, sorted. Each contract is a block, so that git can merge two."""
        lines = [_HEAD]
        for kind in KINDS:
            entries = sorted((id_, each) for (of, id_), each in self.entries.items() if of == kind)
            if entries:
                lines.append(f"{kind}s:\n")
                lines += [_block(id_, entry) for id_, entry in entries]
        return "".join(lines)


class RecordedLock(Struct, frozen=True, kw_only=True):
    """A lock that was read, and where each part of it is written."""

    lock: Lock
    document: Document

    def finding(self, rule: str, pointer: str, message: str) -> Finding:
        """A finding of `rule` at `pointer` of the file."""
        line = self.document.line_of(pointer)
        return lock_finding(rule, message, pointer=pointer, line=line)


def lock_finding(rule: str, message: str, *, pointer: str = "", line: int = 1) -> Finding:
    """A finding of `rule` about the file."""
    known = BY_ID[rule]
    return Finding(
        path=SHOWN,
        line=line,
        pointer=pointer,
        rule=rule,
        message=message,
        fix=known.fix,
        severity=known.severity,
    )


def pointer_to(key: Key) -> str:
    """The JSON Pointer to the entry of a contract."""
    kind, id_ = key
    return pointer_of([f"{kind}s", id_])


def read_lock(folder: Path) -> RecordedLock | None:
    """The lock in `folder`. None if there is none.

    Raises `ContractRefused` with one finding if it was damaged.
    """
    file = folder / FILE
    if not file.exists() and not file.is_symlink():
        return None
    try:
        _refuse_conflict(read_bytes(file, FILE))
        document = read_document(folder, FILE)
    except ContractRefused as refused:
        raise ContractRefused(map(_damaged, refused.findings)) from None
    mistake = next(_mistakes(document), None)
    if mistake is not None:
        raise ContractRefused([mistake])
    return RecordedLock(lock=_lock(document.value), document=document)


def lock_of(contracts: Contracts, versions: Mapping[Key, str], first: str = FIRST) -> Lock:
    """The lock of `contracts` with these versions. Contracts without one have `first`."""
    found = contract_facets(contracts)
    return Lock(
        entries={key: LockEntry(versions.get(key, first), facets) for key, facets in found.items()}
    )


def first_version(contracts: Contracts) -> str:
    """The version of contracts that are recorded first: that of the index, if it is a semver."""
    found = str(contracts.index.document.get("info", {}).get("version", FIRST))
    return found if SEMVER.fullmatch(found) else FIRST


def _block(id_: str, entry: LockEntry) -> str:
    name = id_ if PLAIN_TEXT.match(id_) else dumps(id_)
    facets = ((name, getattr(entry.facets, name)) for name in FACETS)
    lines = (f"    {name}: {_MARK}{each}\n" for name, each in facets if each)
    return "".join((f"  {name}:\n    version: {entry.version}\n", *lines))


def _refuse_conflict(raw: bytes) -> None:
    if conflict := _CONFLICT.search(raw):
        line = raw.count(b"\n", 0, conflict.start()) + 1
        message = "two versions of the file were not merged"
        raise ContractRefused([lock_finding("version/lock-damaged", message, line=line)])


def _damaged(found: Finding) -> Finding:
    """A finding about the text of the file, as one about the lock."""
    if found.rule.startswith("version/"):
        return found
    return lock_finding(
        "version/lock-damaged", found.message, pointer=found.pointer, line=found.line
    )


def _mistakes(document: Document) -> Iterator[Finding]:
    """What is not as `Lock.text` writes it."""

    def damaged(pointer: str, message: str) -> Finding:
        line = document.line_of(pointer)
        return lock_finding("version/lock-damaged", message, pointer=pointer, line=line)

    sections = document.value
    if not isinstance(sections, dict):
        yield damaged("", "the file is not a map of tools, webhooks and events")
        return
    for section, entries in sections.items():
        pointer = child("", section)
        if section not in {f"{kind}s" for kind in KINDS}:
            yield damaged(pointer, f"{section!r} is none of tools, webhooks and events")
        elif not isinstance(entries, dict):
            yield damaged(pointer, f"{section} is not a map of contracts")
        else:
            for id_, entry in entries.items():
                for where, message in _faults(entry):
                    yield damaged(f"{child(pointer, id_)}{where}", message)


def _faults(entry: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(entry, dict) or "version" not in entry:
        yield "", "the entry has no version"
        return
    for name, value in entry.items():
        where, known = child("", name), ("version", *FACETS)
        if name not in known:
            yield where, f"an entry has no member {name!r}; {hint(name, known, 'remove it')}"
        elif name == "version" and not SEMVER.fullmatch(str(value)):
            yield where, f"{value!r} is not a version like 1.4.0"
        elif name != "version" and not _HASH.fullmatch(str(value)):
            yield where, f"{name} is not a hash like sha256:… with 64 digits"


def _lock(sections: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Lock:
    return Lock(
        entries={
            (section[:-1], id_): LockEntry(
                entry["version"],
                Facets(
                    **{name: entry[name].removeprefix(_MARK) for name in FACETS if name in entry}
                ),
            )
            for section, entries in sections.items()
            for id_, entry in entries.items()
        }
    )
