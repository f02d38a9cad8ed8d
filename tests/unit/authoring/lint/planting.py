"""Plants mistakes into the minimal contracts, and judges what the lint says about them.

Most mistakes in different files have nothing to do with each other, so several are planted at once.
Those that are not found in company as they are to be found are judged again with fewer others, and
at last alone. No rule by which one of them is found may be broken by another one in its company.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gateway.authoring.codegen.acceptance import client_findings
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.contracts.finding import ContractRefused, Finding, errors
from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.authoring.diff.changes import ContractChange
from gateway.authoring.diff.facets import contract_facets
from gateway.authoring.lint import lint
from gateway.authoring.versions.bumps import Release, version_findings
from gateway.authoring.versions.lock import FILE, lock_of, read_lock

ASSETS: Final = Path(__file__).parents[3] / "assets" / "contracts"
PLANTED: Final = ASSETS / "planted"
RELEASED: Final = "of what was released"
KINDS: Final = {
    "of files": ("files", "index", "shapes"),
    "of schemas": ("schemas", "references", "publication"),
    "of meaning": ("bindings", "events"),
    "of what is offered": ("offered", "tools", "upstreams", "workflows"),
    RELEASED: ("clients", "versions"),
}
"""The files of planted mistakes that keep each other company: checks of meaning skip what others
have found."""
COMPANY: Final = 6
_RELEASE: Final = "released"
_OF_ALL: Final = ("client/", "version/")
"""Rules of contracts that are sound by themselves: `gateway lint` asks for them at last."""

LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Mistake = Mapping[str, Any]


class Verdicts:
    """The proofs of bindings and events, each made once: most mistakes leave them as they are."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.made = 0

    def __call__(self, kind: str, basis: str, make: Callable[[], str]) -> str:
        if (kind, basis) not in self.kept:
            self.made += 1
            self.kept[kind, basis] = make()
        return self.kept[kind, basis]


def mistakes_of(kind: str) -> list[dict[str, Any]]:
    """The mistakes in tests/assets/contracts/planted/ of one of the `KINDS`."""
    texts = ((PLANTED / f"{name}.yaml").read_bytes() for name in KINDS[kind])
    return [mistake for text in texts for mistake in yaml.load(text, LOADER)]  # noqa: S506 - either is safe


def misjudged(schemas: Path, mistakes: Sequence[Mistake], verdicts: Verdicts) -> dict[str, str]:
    """Those that are not found as they say, by name, each with what is found instead."""
    wrong: dict[str, str] = {}
    for company in companies(mistakes):
        wrong |= _misjudged(schemas, company, verdicts)
    return wrong


def companies(mistakes: Sequence[Mistake]) -> list[list[Mistake]]:
    """The mistakes in lists of such as may be made at once."""
    made: list[list[Mistake]] = []
    for mistake in mistakes:
        for company in made:
            if len(company) < COMPANY and all(_apart(mistake, each) for each in company):
                company.append(mistake)
                break
        else:
            made.append([mistake])
    return made


def _misjudged(schemas: Path, company: list[Mistake], verdicts: Verdicts) -> dict[str, str]:
    try:
        with _planted(schemas, company) as files:
            wrong = _wrong(schemas, company, files, _found(schemas, company, verdicts))
    except (AssertionError, ValueError) as error:  # a text is gone that is to be replaced or found
        wrong = {mistake["name"]: repr(error) for mistake in company}
    if not wrong or len(company) == 1:
        return wrong
    half = len(company) // 2
    halves = (company[:half], company[half:])
    return {
        name: why for each in halves for name, why in _misjudged(schemas, each, verdicts).items()
    }


def _found(schemas: Path, company: list[Mistake], verdicts: Verdicts) -> Sequence[Finding]:
    """What `gateway lint` says of the folder, as far as it matters to the company."""
    tree = read_tree(schemas)
    findings = lint(tree, verdicts)
    is_of_all = any(mistake["expect"]["rule"].startswith(_OF_ALL) for mistake in company)
    if errors(findings) or not is_of_all:
        return findings
    return [*findings, *_findings_of_all(schemas, tree)]


def _findings_of_all(schemas: Path, tree: SourceTree) -> Iterator[Finding]:
    contracts = lower(tree)
    yield from client_findings(contracts)
    try:
        recorded = read_lock(schemas.parent)
    except ContractRefused as refused:
        yield from refused.findings
        return
    released = read_lock(schemas.parent / _RELEASE)
    assert recorded is not None, "the lock was deleted"
    assert released is not None, "the contracts were not released"
    last = Release(released.lock, _RELEASE, _unproved)
    yield from version_findings(recorded, contract_facets(contracts), last, None)


def _unproved() -> Sequence[ContractChange]:
    raise LookupError("only the lock of the release is kept")


def release(schemas: Path) -> None:
    """Write the `contracts.lock` of the folder, and keep it as that of the last release."""
    text = lock_of(lower(read_tree(schemas)), {}).text()
    for folder in (schemas.parent, schemas.parent / _RELEASE):
        folder.mkdir(exist_ok=True)
        (folder / FILE).write_text(text)


def _wrong(
    schemas: Path, company: list[Mistake], files: list[str], findings: Sequence[Finding]
) -> dict[str, str]:
    wrong: dict[str, str] = {}
    expected: list[Finding] = []
    for mistake, file in zip(company, files, strict=True):
        expect = mistake["expect"]
        line = _expected_line(schemas, file, expect)
        fits = [each for each in findings if _is_expected(each, expect, file)]
        expected += fits
        if [each.line for each in fits] != [line] * expect.get("times", 1):
            wrong[mistake["name"]] = f"expected in {file} at line {line}, found {findings}"
        elif not _says(fits[0], expect):
            wrong[mistake["name"]] = f"it says {fits[0]}"
    others = {each.rule for each in errors(findings) if each not in expected}
    others -= {rule for mistake in company for rule in mistake.get("also", ())}
    if others:
        wrong |= {each["name"]: f"reported as others too: {sorted(others)}" for each in company}
    return wrong


def _is_expected(finding: Finding, expect: Mapping[str, Any], file: str) -> bool:
    if (finding.rule, finding.path) != (expect["rule"], file):
        return False
    if "pointer_prefix" in expect:
        return finding.pointer.startswith(expect["pointer_prefix"])
    return bool(finding.pointer == expect["pointer"])


def _says(finding: Finding, expect: Mapping[str, Any]) -> bool:
    return expect.get("fix", "") in finding.fix and expect.get("message", "") in finding.message


def _expected_line(schemas: Path, file: str, expect: Mapping[str, Any]) -> int:
    if "line" in expect:
        return int(expect["line"])
    text = (schemas / file).read_text()
    if "line_with_last" in expect:
        return text.count("\n", 0, text.rindex(expect["line_with_last"])) + 1
    return text.count("\n", 0, text.index(expect["line_with"])) + 1


@contextmanager
def _planted(schemas: Path, company: list[Mistake]) -> Iterator[list[str]]:
    """Spoil the folder for a while. Gives the files in which the findings must lie."""
    touched = {schemas / file for mistake in company for file in _touched(mistake)}
    edits = (edit for mistake in company for edit in _edits(mistake))
    touched |= {copy for edit in edits for copy, _ in _copies(schemas, edit)}
    before = {file: file.read_bytes() if file.is_file() else None for file in touched}
    try:
        yield [plant(schemas, mistake) for mistake in company]
    finally:
        for mistake in company:
            if "rename" in mistake:
                (schemas / mistake["rename"]["to"]).rename(schemas / mistake["rename"]["file"])
        for file, content in before.items():
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_bytes(content)


def plant(schemas: Path, mistake: Mistake) -> str:
    """Spoil the folder as the mistake says. Answers the file in which the finding must lie."""
    match mistake:
        case {"edits": [*edits, edit]}:
            for each in (*edits, edit):
                rewrite(schemas, each)
        case {"edit": edit}:
            rewrite(schemas, edit)
        case {"write": edit}:
            file = schemas / edit["file"]
            raw = bytes.fromhex(edit["hex"]) if "hex" in edit else edit["text"].encode()
            file.write_bytes(raw.ljust(edit.get("pad_to", 0)))
        case {"link": edit}:
            (schemas / edit["file"]).symlink_to(edit["to"])
        case {"delete": name}:
            (schemas / name).unlink()
            edit = {"file": name}
        case {"rename": edit}:
            (schemas / edit["file"]).rename(schemas / edit["to"])
        case _:
            pytest.fail("the mistake says nothing that can be done")
    return str(mistake["expect"].get("file", edit["file"]))


def rewrite(schemas: Path, edit: Mapping[str, Any]) -> None:
    """Replace a text of a file, which must be there, and write the copies that it names."""
    file = schemas / edit["file"]
    text = file.read_text()
    assert edit["old"] in text, "the planted edit does not apply any more"
    file.write_text(text.replace(edit["old"], _replacement(edit), 1))
    for copy, content in list(_copies(schemas, edit)):
        copy.write_text(content)


def _copies(schemas: Path, edit: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """The files of a tool again under many names, each with its text. None if no edit says so."""
    if "copies" not in edit:
        return
    whole = schemas / edit["copies"]
    named = re.compile(rf"({whole.parent.name}[._]|\./){whole.name}\b")
    for file in sorted(whole.parent.glob(f"{whole.name}.*")):
        for number in range(edit["many"]["count"]):
            copy = file.with_name(file.name.replace(whole.name, f"{whole.name}_{number}", 1))
            yield copy, named.sub(rf"\g<0>_{number}", file.read_text())


def _replacement(edit: Mapping[str, Any]) -> str:
    match edit:
        case {"new": text}:
            return str(text)
        case {"nest": how}:
            depth = how["depth"]
            return f"{how['before']}{how['open'] * depth}{how['inside']}{how['close'] * depth}"
        case {"many": how}:
            return how["before"] + "".join(
                how["each"].replace("%d", str(number)) for number in range(how["count"])
            )
    pytest.fail("the edit says nothing to write")


def _edits(mistake: Mistake) -> list[Mapping[str, Any]]:
    return [*mistake.get("edits", ()), *([mistake["edit"]] if "edit" in mistake else ())]


def _touched(mistake: Mistake) -> set[str]:
    files = {edit["file"] for edit in _edits(mistake)}
    files |= {mistake[how]["file"] for how in ("write", "link") if how in mistake}
    return files | ({mistake["delete"]} if "delete" in mistake else set())


def _apart(mistake: Mistake, other: Mistake) -> bool:
    """Whether both can be made at once, and neither is reported by the rule of the other."""
    if "rename" in mistake or "rename" in other:
        return False
    rules = [(each["expect"]["rule"], each.get("also", ())) for each in (mistake, other)]
    (rule, also), (other_rule, other_also) = rules
    if rule == other_rule or rule in other_also or other_rule in also:
        return False
    return not _touched(mistake) & _touched(other)
