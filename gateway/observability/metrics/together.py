"""The metrics of processes that serve one address together.

A scrape reaches one of them. Each writes its metrics to a file from time to time, and the one that
is asked adds those of the others, with the label `process`.
"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct, field

_log: Final = logging.getLogger(__name__)
WRITE_SECONDS: Final = 2.0
_SUFFIX: Final = ".prom"
_COMMENT: Final = re.compile(rb"# (?:HELP|TYPE) (\S+) ")
_SAMPLE: Final = re.compile(rb"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")


class _Family(Struct):
    """The lines of one metric."""

    head: list[bytes] = field(default_factory=list)
    samples: list[bytes] = field(default_factory=list)


class ProcessFiles:
    """The files of one group of processes, which is named `group`."""

    def __init__(self, folder: Path, group: str, number: int) -> None:
        self._folder = folder
        self._group = group
        self._number = number
        self._is_failing = False

    def write(self, text: bytes) -> None:
        """Write the metrics of this process for the others. A full disk does not stop it."""
        path = self._path(self._number)
        draft = path.with_suffix(".draft")
        try:
            draft.write_bytes(text)
            draft.replace(path)
            self._is_failing = False
        except OSError as error:
            if not self._is_failing:
                _log.warning("other processes cannot show these metrics: %s", error.strerror)
            self._is_failing = True

    def merged(self, own: bytes, unlabelled: frozenset[str]) -> bytes:
        """`own`, which is newer than the file of this process, and the metrics of the others.

        The metrics `unlabelled` are of all processes together, and are taken from `own`.
        """
        families: dict[bytes, _Family] = {}
        shared = {name.encode() for name in unlabelled}
        for number, text in [(self._number, own), *self._others()]:
            label = b'process="%d"' % number
            is_own = number == self._number
            for name, family in _families(text).items():
                if name in shared and not is_own:
                    continue
                known = families.setdefault(name, _Family(family.head))
                labels = b"" if name in shared else label
                known.samples += [_labelled(line, labels) for line in family.samples]
        lines = (line for each in families.values() for line in (*each.head, *each.samples))
        return b"".join(b"%b\n" % line for line in lines)

    def _others(self) -> Iterator[tuple[int, bytes]]:
        for path in sorted(self._folder.glob(f"{self._group}-*{_SUFFIX}")):
            number = path.stem.rpartition("-")[2]
            if number.isdigit() and int(number) != self._number:
                try:
                    yield int(number), path.read_bytes()
                except OSError:
                    continue  # its process has just been replaced

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._group}-{number}{_SUFFIX}"


def _families(text: bytes) -> dict[bytes, _Family]:
    """The metrics of a text in the format of Prometheus 0.0.4, by the name in their comments."""
    found: dict[bytes, _Family] = {}
    family = _Family()
    for line in text.splitlines():
        comment = _COMMENT.match(line)
        if comment is None:
            family.samples.append(line)
        else:
            family = found.setdefault(comment[1], _Family())
            family.head.append(line)
    return found


def _labelled(line: bytes, label: bytes) -> bytes:
    sample = _SAMPLE.match(line)
    if sample is None or not label:
        return line
    name, labels, value = sample.groups()
    return b"%b{%b} %b" % (name, b",".join(filter(None, (label, labels))), value)
