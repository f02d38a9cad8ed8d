"""Which contracts can be compared with others: those in whose files nothing is wrong."""

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Final

from gateway.contracts.finding import ContractRefused, Finding, Severity
from gateway.contracts.sources.refs import closure
from gateway.lint.draft import Draft

_NEEDS: Final = (
    *("file/", "json/", "yaml/", "ref/", "schema/", "shape/", "upstream/", "binding/"),
    *("webhook/", "event/", "entity/", "tool/schema-file", "publish/root"),
)
"""Rules without which a contract cannot be compared with another."""


def unsound_files(findings: Collection[Finding]) -> frozenset[PurePosixPath]:
    """The files in which something is wrong that comparing contracts would stumble over."""
    return frozenset(
        PurePosixPath(finding.path)
        for finding in findings
        if finding.severity is Severity.ERROR and finding.rule.startswith(_NEEDS)
    )


def is_sound(draft: Draft, path: PurePosixPath, unsound: frozenset[PurePosixPath]) -> bool:
    """Whether nothing is wrong with the file `path`, nor with any that it refers to."""
    try:
        return unsound.isdisjoint(closure(draft.tree, path))
    except ContractRefused:
        return False
