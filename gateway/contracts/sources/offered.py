"""The contract files of resources and prompts."""

from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from gateway.contracts.sources.document import Document

FILES: Final = "files"
"""The folder beside contracts of resources and prompts with what they send as it is."""


class OfferedSource(Struct, frozen=True, eq=False):
    """The file of one resource or prompt, `<kind>/<connector>/<name>.yaml`."""

    document: Document

    @property
    def path(self) -> PurePosixPath:
        return self.document.path

    @property
    def connector(self) -> str:
        return self.path.parts[1]

    @property
    def grant(self) -> str:
        """`<kind>/<connector>.<name>`."""
        return f"{self.path.parts[0]}/{self.connector}.{self.path.stem}"

    def file(self, name: str) -> PurePosixPath:
        """The path of the file `name` that belongs to it."""
        return self.path.parent / FILES / name
