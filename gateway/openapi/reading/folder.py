"""Opens the files that a document refers to, inside its folder only."""

from gateway.openapi.reading.budget import Meter
from gateway.openapi.reading.references import UnusableReference
from gateway.openapi.reading.source import SourceDocument, SourceFile


class SourceFolder:
    """The files of one document. Each is read once."""

    def __init__(self, source: SourceDocument) -> None:
        self._root = source.root
        self._meter: Meter = source.meter
        self._files = {source.path: source.file}

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """The files that were read, the first one first."""
        return tuple(self._files.values())

    def open(self, path: str) -> SourceFile:
        """The file at the normalised relative `path`.

        Raises `UnusableReference` for a file that may not be opened or does not exist, and
        `DocumentRefused` for one that cannot be parsed.
        """
        if path in self._files:
            return self._files[path]
        if self._root is None:
            raise UnusableReference("ref/other-file", "only one file was given")
        root = self._root.resolve()
        # A link is followed only to find out where it leads, and nothing outside is opened.
        file = (root / path).resolve()
        if not file.is_relative_to(root):
            raise UnusableReference("ref/escapes", "a link leads out of the folder")
        if not file.is_file():
            raise UnusableReference("ref/dangling", "there is no such file")
        with file.open("rb") as stream:
            raw = stream.read(self._meter.budget.size_bytes + 1)
        self._files[path] = SourceFile(path, raw, self._meter)
        return self._files[path]
