"""The accepted differences from the vendors' descriptions, with reasons.

The file has tables `[[difference]]`: `upstream` and `what` in the words of the comparison,
`operations` and `at` as lists (`["*"]` for every operation), and `reason`.
"""

import tomllib
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Final

import msgspec
from msgspec import Struct
from vendor_differences import Difference

HEAD: Final = """\
# Differences from the vendors' descriptions

<!-- Written by `scripts/conformance/vendor_specs.py`. Do not edit. -->

Our contracts of upstreams are written by us, and hold only what a binding uses. They are compared
with what the vendors publish, operation by operation: method and path, parameters, what is
required, enumerated values, members of requests, and types of members of replies. That we leave out
what is optional is no difference. All others stand here with their reason; the comparison fails for
one that does not.

Google's descriptions come with its Python client and are compared in every test run. The others
are compared when `scripts/conformance/vendor_specs.py --specs FOLDER` is given a folder that holds
them. Avinode, ntfy, OpenWeatherMap and PostgREST publish no description that could be compared; tee
times follow an interface that is our own.
"""


_GONE: Final = "accepted, but no longer found:"


class Accepted(Struct, frozen=True, forbid_unknown_fields=True):
    """An accepted difference."""

    upstream: str
    operations: tuple[str, ...]
    at: tuple[str, ...]
    what: str
    reason: str

    def covers(self, found: Difference) -> bool:
        """Whether this entry covers `found`."""
        is_meant = (self.upstream, self.what) == (found.upstream, found.what)
        is_there = found.at in self.at and bool({"*", found.operation} & set(self.operations))
        return is_meant and is_there


def read_accepted(text: str) -> list[Accepted]:
    """The accepted differences in `text`. Raises `msgspec.ValidationError`."""
    return msgspec.convert(tomllib.loads(text).get("difference", []), list[Accepted])


def unexplained(accepted: Sequence[Accepted], found: Sequence[Difference]) -> Iterator[str]:
    """Found differences that are not accepted."""
    for each in found:
        if not any(one.covers(each) for one in accepted):
            yield f"{each.upstream}.{each.operation}: {each.at} {each.what}"


def vanished(
    accepted: Sequence[Accepted], found: Sequence[Difference], compared: Collection[str]
) -> Iterator[str]:
    """Accepted differences that were not found in the compared upstreams."""
    for one in accepted:
        if one.upstream not in compared:
            continue
        seen = {(each.operation, each.at) for each in found if one.covers(each)}
        for operation in {*one.operations} - {"*"} - {operation for operation, _ in seen}:
            yield f"{one.upstream}.{operation}: {_GONE} {one.what}"
        for at in {*one.at} - {at for _, at in seen}:
            yield f"{one.upstream}: {_GONE} {at} {one.what}"


def page(accepted: Sequence[Accepted]) -> str:
    """The page of the accepted differences."""
    sections = [HEAD]
    ordered = sorted(accepted, key=lambda one: one.upstream)
    for upstream, group in groupby(ordered, key=lambda one: one.upstream):
        rows = "".join(map(_row, group))
        head = "| operation | where | difference | why |\n|---|---|---|---|\n"
        sections.append(f"\n## {upstream}\n\n{head}{rows}")
    return "".join(sections)


def _row(one: Accepted) -> str:
    operations = (
        "all" if "*" in one.operations else ", ".join(f"`{name}`" for name in one.operations)
    )
    places = "<br>".join(f"`{at}`" for at in one.at)
    return f"| {operations} | {places} | {one.what} | {one.reason} |\n"
