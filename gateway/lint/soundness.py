"""Finds the contracts that can be compared with others: those without errors in their files."""

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
"""Prefixes of the rules that a contract must follow to be compared with another."""


def unsound_files(findings: Collection[Finding]) -> frozenset[PurePosixPath]:
    """The files with errors that make a comparison with other contracts impossible."""
    return frozenset(
        PurePosixPath(finding.path)
        for finding in findings
        if finding.severity is Severity.ERROR and finding.rule.startswith(_NEEDS)
    )


def is_sound(draft: Draft, path: PurePosixPath, unsound: frozenset[PurePosixPath]) -> bool:
    """Whether neither the file `path` nor a file that it refers to is in `unsound`."""
    try:
        return unsound.isdisjoint(closure(draft.tree, path))
    except ContractRefused:
        return False
