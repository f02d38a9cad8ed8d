"""What keeps the tests of the lint quick: they read nearly the same files again and again."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from gateway.authoring.contracts import tree
from gateway.authoring.contracts.document import Document


@pytest.fixture(autouse=True, scope="session")
def files_read_once() -> Iterator[None]:
    """A file with the same text at the same place is the same document, which nothing changes."""
    read, known = tree.read_document, dict[tuple[PurePosixPath, bytes], Document]()

    def remembered(root: Path, path: PurePosixPath) -> Document:
        file = root / path
        if file.is_symlink() or not file.is_file():
            return read(root, path)
        key = path, file.read_bytes()
        if key not in known:
            known[key] = read(root, path)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "read_document", remembered)
        yield
