"""Reads the two sides of a comparison: folders of contracts, git refs, OpenAPI documents."""

import filecmp
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.codegen.imported import imported_records, with_imported
from gateway.authoring.codegen.ir import Contracts
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.contracts.cache import uncached
from gateway.authoring.contracts.finding import ContractRefused, Finding, errors
from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.authoring.diff.changes import ContractChange, Level
from gateway.authoring.diff.compare import Comparer
from gateway.authoring.diff.documents import CALLED, document_subjects
from gateway.authoring.diff.git import extract
from gateway.authoring.diff.policies import policies
from gateway.authoring.diff.projects import subjects_of
from gateway.authoring.diff.rules import RULES, severity_at
from gateway.authoring.diff.surface import Subject
from gateway.authoring.lint import CHECKS
from gateway.authoring.lint.draft import Draft
from gateway.authoring.lint.policies import without_waived
from gateway.authoring.openapi.reading.normalise import NormalDocument, normalise
from gateway.authoring.openapi.reading.source import PartRefused, read_source
from gateway.contract.schemas.dialects import NEWEST, dialect_name, dialect_of
from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.errors import ContractError
from gateway.project_folder import INDEX

_UNREADABLE: Final = ("ref/", "document/")
"""The rules of parts that cannot be read. Others are of what the gateway cannot serve."""


_REFERENCE: Final = re.compile(rb"""\$ref["']?\s*:\s*["']?(#/[^"'\s#]*)""")


class Side(Struct, frozen=True, kw_only=True):
    """One side: what was named, and what it offers."""

    name: str
    """As it was named, for messages."""
    subjects: dict[str, Subject]
    contracts: Contracts | None = None
    """None: the side is a document."""
    dialect: int = NEWEST
    """Of the schemas of a document that name none."""
    counterpart: str = ""
    """What it is compared with if nothing is named: the same of the working tree."""


def read_contracts(folder: Path, name: str, packages: Sequence[str]) -> Side:
    """The side of a folder of contracts, or of the project that holds one.

    Raises `ContractRefused` if the contracts have errors, and `ContractError` if there are none.
    """
    schemas = folder if (folder / INDEX).is_file() else folder / "schemas"
    if not (schemas / INDEX).is_file():
        raise ContractError(
            f"{name} has no {INDEX}, so it holds no contracts; name a folder of contracts, a git "
            "ref of one, or an OpenAPI document"
        )
    tree = read_tree(schemas)
    _refuse_unreadable(tree, packages)
    contracts = with_imported(lower(tree), imported_records(schemas, uncached, lambda _: None))
    subjects = {each.name: each for each in subjects_of(contracts, tree)}
    subjects |= _upstreams(schemas, [each.upstream.name for each in contracts.upstreams])
    return Side(name=name, subjects=subjects, contracts=contracts)


def _upstreams(schemas: Path, names: Iterable[str]) -> dict[str, Subject]:
    """The operations of upstreams that have a contract. Those of imports are tools."""
    found: dict[str, Subject] = {}
    for name in names:
        path = schemas / "upstreams" / name / "openapi.yaml"
        document = _normal(path, schemas)
        for each in document_subjects(document, f"{name}: ", CALLED):
            found[each.name] = each
    return found


def _refuse_unreadable(tree: SourceTree, packages: Sequence[str]) -> None:
    """Raise `ContractRefused` for contracts that cannot be read.

    Whether a binding fits its schemas, and whether its code exists, is for `gateway lint`: a git
    ref is read without code, and a narrowed schema is shown before its bindings are right.
    """
    draft = Draft(tree, packages)
    found = [*tree.findings, *(each for check in CHECKS for each in check(draft))]
    refusals = [each for each in errors(without_waived(draft, found)) if "handler" not in each.rule]
    if refusals:
        raise ContractRefused(refusals)


def read_side(
    text: str, schemas: Path, packages: Sequence[str], step: Callable[[str], None]
) -> Side:
    """The side that `text` names. `schemas` is the project's folder of contracts.

    Raises `ContractError`, also as `ContractRefused`, for what cannot be read.
    """
    step(f"reading {text}")
    try:
        return _read(text, schemas, packages)
    except ContractRefused as error:
        raise ContractError(_refusal(text, error.findings)) from None


def _refusal(name: str, findings: Sequence[Finding]) -> str:
    """The first finding with its fix, and how many more there are."""
    first, more = findings[0], len(findings) - 1
    place = f"{first.place}: {first.rule} {first.pointer or '/'}"
    others = f", and {more} more" if more else ""
    return f"{name} cannot be compared: {place}: {first.message}{others}; {first.fix}"


def _read(text: str, schemas: Path, packages: Sequence[str]) -> Side:
    path = Path(text)
    if path.exists():
        return replace(_at(path, text, packages), counterpart=str(schemas))
    ref, _, file = text.partition(":")
    with TemporaryDirectory(prefix="gateway-diff-") as folder:
        found = extract(ref, Path(file) if file else schemas, Path(folder))
        side = _at(found, text, packages)
    return replace(side, counterpart=file or str(schemas))


def _at(path: Path, name: str, packages: Sequence[str]) -> Side:
    if path.is_dir():
        return read_contracts(path, name, packages)
    return read_document(path, name)


def read_document(path: Path, name: str) -> Side:
    """The side of an OpenAPI document. Files beside it, and below, may be parts of it.

    Raises `ContractRefused` if it, or a part of it, cannot be read.
    """
    try:
        document = _normal(path, path.parent)
        subjects = {each.name: each for each in document_subjects(document)}
    except PartRefused as error:
        raise ContractRefused([error.finding]) from None
    named = document.source.value.get("jsonSchemaDialect")
    return Side(name=name, subjects=subjects, dialect=dialect_of(named) if named else NEWEST)


def _normal(path: Path, root: Path) -> NormalDocument:
    """The document at `path`. Raises `ContractRefused` if a part of it cannot be read."""
    document = normalise(read_source(path, root=root))
    refusals = [each for each in document.refusals if each.rule.startswith(_UNREADABLE)]
    refusals += [each for each in document.notes if each.rule == "schema/dialect"]
    if refusals:
        raise ContractRefused(each.finding for each in refusals)
    return document


def read_sides(
    old: str, new: str | None, schemas: Path, packages: Sequence[str], step: Callable[[str], None]
) -> tuple[Side, Side]:
    """Both sides, as `read_side` reads them. Equal documents are read once."""
    if new is not None and _are_equal(Path(old), Path(new)):
        step(f"reading {old}, which is equal to {new}")
        if _is_closed(Path(old)):
            return Side(name=old, subjects={}), Side(name=new, subjects={})
    one = read_side(old, schemas, packages, step)
    other = read_side(new or one.counterpart, schemas, packages, step)
    if one.dialect != other.dialect:
        names = [dialect_name(each.dialect) for each in (one, other)]
        raise ContractError(
            f"{one.name} and {other.name} cannot be compared: the schemas of one are of "
            f"{names[0]}, those of the other one of {names[1]}; "
            "name one `jsonSchemaDialect` in both"
        )
    return one, other


def _are_equal(old: Path, new: Path) -> bool:
    are_files = old.is_file() and new.is_file()
    return are_files and filecmp.cmp(old, new, shallow=False)


def _is_closed(path: Path) -> bool:
    """Whether a document can be read, and all its references lead to a place inside of it."""
    source = read_source(path)
    references = {found[1] for found in _REFERENCE.finditer(source.file.raw)}
    try:
        for reference in references:
            follow(source.value, unquote(reference.decode()).removeprefix("#"))
    except (NoSuchPlace, UnicodeDecodeError):
        return False
    # What is no reference of this form is read in full.
    return source.file.raw.count(b"$ref") == sum(1 for _ in _REFERENCE.finditer(source.file.raw))


def changes_between(
    old: Side, new: Side, level: Level, step: Callable[[str], None]
) -> tuple[ContractChange, ...]:
    """What changed from `old` to `new`. Raises `ContractError` if they are of two kinds."""
    if (old.contracts is None) != (new.contracts is None):
        raise ContractError(
            f"{old.name} and {new.name} cannot be compared: one is a folder of contracts, and the "
            "other an OpenAPI document; name two of one kind"
        )
    proved = Comparer(level).changes(old.subjects, new.subjects, step)
    if old.contracts is None or new.contracts is None:
        return proved
    step("reading names, texts and policies")
    ruled = (
        replace(each, severity=severity_at(RULES[each.rule], level))
        for each in policies(old.contracts, new.contracts)
    )
    return (*proved, *ruled)
