"""Splits the `$ref`s of vendors' documents. Nothing is opened here."""

import posixpath
import re
from typing import Final
from urllib.parse import unquote

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_FRAGMENT: Final = re.compile(r"/|(?:[A-Za-z_][A-Za-z0-9._-]*)?$")
FIXES: Final = {
    "ref/remote": "copy the target into the document",
    "ref/absolute": "write the path relative to the file",
    "ref/escapes": "name a folder that holds both files with --root",
    "ref/other-file": "name the folder that holds both files with --root",
    "ref/dangling": "correct the reference, or add its target",
    "ref/malformed": "write `#/pointer` or `file.yaml#/pointer`",
    "ref/recursive": "let one of the references lead to an object",
}
"""What to do about each rule."""


class UnusableReference(ValueError):
    """The reference cannot be followed. `rule` is a key of `FIXES`."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message

    @property
    def fix(self) -> str:
        """What the author can do."""
        return FIXES[self.rule]


def split(base_path: str, ref: object) -> tuple[str, str]:
    """The file and the JSON Pointer or `$anchor` that `ref` in the file `base_path` leads to.

    Raises `UnusableReference`.
    """
    if not isinstance(ref, str):
        raise UnusableReference("ref/malformed", "a reference must be text")
    file, _, fragment = ref.partition("#")
    file, fragment = unquote(file), unquote(fragment)
    if _SCHEME.match(ref):
        raise UnusableReference("ref/remote", "the reference is a URL, and nothing is fetched")
    if file.startswith(("/", "~")):
        raise UnusableReference("ref/absolute", "a reference must be a relative path")
    if any(mark in file for mark in "\\?\0") or not _FRAGMENT.match(fragment):
        raise UnusableReference("ref/malformed", "not a relative path with a JSON Pointer")
    if not file:
        return base_path, fragment
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(base_path), file))
    if joined == ".." or joined.startswith("../"):
        raise UnusableReference("ref/escapes", "the reference leads out of the folder")
    return joined, fragment
