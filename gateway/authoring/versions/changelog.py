"""The group Contract of a project's CHANGELOG: what a release changes for whom."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gateway.authoring.codegen.render.markdown import code, inline
from gateway.authoring.diff.changes import ChangeVerdict, ContractChange
from gateway.authoring.versions.bumps import Bump, VersionStep
from gateway.contract.values.hidden import visible_text
from gateway.errors import ConfigurationError

UNRELEASED: Final = "## Unreleased"
GROUP: Final = "### Contract"
_NEW: Final = "# Changelog\n"
_END: Final = "<!-- end of gateway release -->"
_MOST: Final = 10
"""The most changes that are named of one contract."""
_VERSION: Final = re.compile(r"^## ", re.MULTILINE)
_GROUPS: Final = re.compile(r"^### ", re.MULTILINE)


def entries_of(steps: Iterable[VersionStep], others: Iterable[ContractChange]) -> str:
    """The lines of the group, in Markdown: what breaks first."""
    ordered = sorted(steps, key=lambda step: (-step.bump, step.kind, step.id))
    lines = [_line(step) for step in ordered]
    lines += [f"- {code(each.subject)}: {_shown(each.text)}." for each in others]
    return "\n".join(lines)


def _line(step: VersionStep) -> str:
    said = "; ".join(_shown(each.text) for each in step.need.changes[:_MOST])
    if more := len(step.need.changes) - _MOST:
        said += f"; and {more} more" if more > 0 else ""
    if not step.need.changes and step.need.facets:
        said = f"changed: {', '.join(step.need.facets)}"
    name = f"{step.kind} {code(step.id)}"
    if step.new is None:
        return f"- **Breaking**: {name} {step.old} is removed."
    if step.old is None:
        return f"- Compatible: {name} {step.new} is new."
    kind = "**Breaking**" if step.bump is Bump.MAJOR else "Compatible"
    return f"- {kind}: {name} {step.new} (was {step.old}){f': {said}' if said else ''}."


def _shown(text: str) -> str:
    """Text that may be a contract's, which is data: no markup, nothing hidden."""
    return inline(visible_text(text)[0])


def with_entries(text: str | None, entries: str, release: str) -> str:
    """The CHANGELOG `text` with `entries` under Unreleased, Contract.

    `release` names the release before. Entries since the same one are replaced, so that a
    repetition changes nothing. What people wrote stays. None: there is no file yet. Raises
    `ConfigurationError` if someone has deleted the line that ends them.
    """
    begin = f"<!-- gateway release: since {release} -->"
    block = f"{begin}\n\n{entries}\n\n{_END}"
    if text is None:
        return f"{_NEW}\n{UNRELEASED}\n\n{GROUP}\n\n{block}\n"
    start, end = _section(text)
    if start < 0:
        at = found.start() if (found := _VERSION.search(text)) else len(text)
        head = text[:at].rstrip("\n")
        return f"{head}\n\n{UNRELEASED}\n\n{GROUP}\n\n{block}\n\n{text[at:]}".rstrip("\n") + "\n"
    section = _in_section(text[start:end], block, begin)
    return f"{text[:start]}{section}{text[end:]}"


def _section(text: str) -> tuple[int, int]:
    """Where the section Unreleased begins and ends. -1: there is none."""
    found = re.search(rf"^{re.escape(UNRELEASED)}\s*?$", text, re.MULTILINE | re.IGNORECASE)
    if found is None:
        return -1, -1
    after = _VERSION.search(text, found.end())
    return found.start(), after.start() if after else len(text)


def _in_section(section: str, block: str, begin: str) -> str:
    start = section.find(begin)
    if start >= 0:
        end = section.find(_END, start)
        if end < 0:
            raise ConfigurationError(
                f"the CHANGELOG has the line {begin} without {_END} after it; restore that line, or"
                " delete both"
            )
        return f"{section[:start]}{block}{section[end + len(_END) :]}"
    group = re.search(rf"^{re.escape(GROUP)}\s*?$", section, re.MULTILINE)
    if group is not None:
        rest = section[group.end() :].lstrip("\n")
        return f"{section[: group.end()]}\n\n{block}\n\n{rest}"
    # Contract is the first group of a version.
    groups = _GROUPS.search(section)
    at = groups.start() if groups else len(section)
    head, rest = section[:at].rstrip("\n"), section[at:]
    return f"{head}\n\n{GROUP}\n\n{block}\n\n{rest}"


def notable(changes: Sequence[ContractChange]) -> list[ContractChange]:
    """Those of changes that are about no contract which readers of a CHANGELOG must know."""
    return [
        each
        for each in changes
        if each.verdict is not ChangeVerdict.SAFE and each.severity != "info"
    ]
