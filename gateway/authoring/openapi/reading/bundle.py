"""What is collected while a document is brought into the normal form."""

import hashlib
import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from gateway.authoring.contracts.finding import Finding, Severity
from gateway.authoring.contracts.refs import SCHEME
from gateway.authoring.openapi.reading.source import (
    DocumentRefused,
    Meter,
    OutOfBudget,
    SourceDocument,
    SourceFile,
)
from gateway.contract.values.pointers import NoSuchPlace, child, follow, parent, steps
from gateway.contract.values.schema import DATA

# Splits the `$ref`s of vendors' documents. Nothing is opened here.

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
    if SCHEME.match(ref):
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


# What is collected while a document is brought into the normal form.
#
# Targets of references become components, so that the normal form is one document: a target that is
# not a component already gets a name of its own.


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


SECTIONS: Final = {
    "Schema": "schemas",
    "Response": "responses",
    "Parameter": "parameters",
    "Example": "examples",
    "RequestBody": "requestBodies",
    "Header": "headers",
    "SecurityScheme": "securitySchemes",
    "Link": "links",
    "Callback": "callbacks",
    "PathItem": "pathItems",
    "MediaType": "mediaTypes",
}
"""The section of `components` for each kind of object that a reference can lead to."""
REFUSED: Final = "x-refused"
UNCLEAN: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_NAME: Final = 64
_MAX_FOLLOWED: Final = 8
_NAMED_IN: Final = frozenset({*SECTIONS.values(), "definitions", "$defs"})
"""Maps whose members have names that say what they are."""


class Spot(NamedTuple):
    """A place that is being read."""

    file: SourceFile
    pointer: str

    def at(self, step: str | int) -> "Spot":
        """The place of one member."""
        return Spot(self.file, child(self.pointer, step))


class Written(NamedTuple):
    """An object as the vendor wrote it, and its place."""

    value: Any
    spot: Spot


class Noted(NamedTuple):
    """What is said of a part. A line costs another reading of the text, so it is found last."""

    spot: Spot
    rule: str
    message: str
    fix: str
    severity: Severity

    @property
    def finding(self) -> Finding:
        """The same with its line, to be shown."""
        return self.spot.file.finding(self.spot.pointer, *self[1:])


class Waiting(NamedTuple):
    """A component that is still to be normalised."""

    kind: str
    name: str
    target: Written


def is_reference(value: Any) -> bool:
    """Whether `value` has a `$ref`, and not a member of this name."""
    return isinstance(value, dict) and isinstance(value.get("$ref"), str)


def anchors(value: Any) -> Iterator[tuple[str, str]]:
    """Each `$anchor` in `value` with the pointer to its schema."""
    waiting: list[tuple[Any, str]] = [(value, "")]
    while waiting:
        part, pointer = waiting.pop()
        if isinstance(part, dict):
            if isinstance(name := part.get("$anchor"), str):
                yield name, pointer
            waiting += (
                (each, child(pointer, key)) for key, each in part.items() if key not in DATA
            )
        elif isinstance(part, list):
            waiting += ((each, child(pointer, at)) for at, each in enumerate(part))


class Bundle:
    """The components, refusals and notes of one document."""

    def __init__(self, source: SourceDocument) -> None:
        self.source = source
        self.folder = SourceFolder(source)
        self.waiting: list[Waiting] = []
        self.refusals: list[Noted] = []
        self.notes: list[Noted] = []
        self.moved: dict[str, Spot] = {}
        """Pointers of the normal form whose part was written elsewhere."""
        self._names: dict[str, set[str]] = {}
        self._placed: dict[tuple[str, str, str], str] = {}
        self._anchors: dict[str, dict[str, str]] = {}
        """The pointers of the schemas with an `$anchor`, by file."""
        self._followed = 0
        """How many references are being followed inside one another."""

    def reserve(self, kind: str, name: str, spot: Spot) -> None:
        """Keep `name` for the component of the document at `spot`."""
        section = SECTIONS[kind]
        self._names.setdefault(section, set()).add(name)
        self._placed[kind, spot.file.path, spot.pointer] = name

    def place(self, pointer: str, spot: Spot) -> None:
        """Record that the part at `pointer` of the normal form was written at `spot`."""
        if (spot.file, spot.pointer) != (self.source.file, pointer):
            self.moved[pointer] = spot

    def target(self, ref: object, spot: Spot) -> Written:
        """What `ref`, written at `spot`, leads to. Raises `UnusableReference`."""
        path, pointer = split(spot.file.path, ref)
        is_first = path == self.source.path
        file = self.source.file if is_first else self._open(path)
        found = self._in_resource(file, pointer, spot) or self._at(file, pointer)
        if found is None and file is spot.file:
            found = self._in_first(pointer, spot)
        if found is None:
            raise UnusableReference("ref/dangling", f"{path} has nothing at {pointer}")
        return found

    def _in_first(self, pointer: str, spot: Spot) -> Written | None:
        """What the first document has at `pointer`, which the file of `spot` lacks. None: nothing.

        Authors split a document for tools that join the files before they follow `#/…`.
        """
        found = self._at(self.source.file, pointer)
        if found is not None:
            message = f"the file has nothing there; what {self.source.path} has there is taken"
            path = posixpath.relpath(self.source.path, posixpath.dirname(spot.file.path) or ".")
            fix = f"name the file: {path}#{pointer}"
            self.note(spot.at("$ref"), "ref/first-document", message, fix)
        return found

    def _in_resource(self, file: SourceFile, pointer: str, spot: Spot) -> Written | None:
        """What is at `pointer` in the schema with an `$id` around `spot`, or has this `$anchor`.

        JSON Schema Core §8.2.1, §8.2.2. None: nothing, or `pointer` is one into the whole file.
        Raises `UnusableReference`.
        """
        if pointer and not pointer.startswith("/"):
            known = self._anchors.get(file.path)
            if known is None:
                known = self._anchors[file.path] = dict(anchors(self.value_of(file)))
            if pointer not in known:
                raise UnusableReference("ref/malformed", f"no schema has the $anchor {pointer!r}")
            return self._at(file, known[pointer])
        around = spot.pointer if file is spot.file else ""
        while around:
            around = parent(around)
            with suppress(NoSuchPlace):
                resource = follow(self.value_of(file), around)
                if around and isinstance(resource, dict) and isinstance(resource.get("$id"), str):
                    return self._at(file, around + pointer)
        return None

    def members(self, value: dict[str, Any], spot: Spot) -> dict[str, Written]:
        """The members of `value`, with those of what its `$ref` leads to, and their places.

        It is for objects and maps that OpenAPI allows no reference to. Vendors write them, and no
        member of theirs is a text. Raises `UnusableReference`.
        """
        found: dict[str, Written] = {}
        for _ in range(_MAX_FOLLOWED):
            own = {name: Written(each, spot.at(name)) for name, each in value.items()}
            if not is_reference(value):
                return {**own, **found}
            found = {**own, **found}
            value, spot = self.target(found.pop("$ref").value, spot)
            if not isinstance(value, dict):
                raise UnusableReference("ref/malformed", "the reference leads to no object")
        raise UnusableReference("ref/recursive", "the reference leads to itself")

    def known(self, value: Any, spot: Spot) -> dict[str, Written]:
        """As `members`, and none of what is no map: that is reported when it is walked."""
        try:
            return self.members(value, spot) if isinstance(value, dict) else {}
        except UnusableReference:
            return {}

    def note_followed(self, spot: Spot) -> None:
        """Record that the part at `spot` is a reference where OpenAPI allows none."""
        message = "OpenAPI allows no reference here; it is followed"
        self.note(spot.at("$ref"), "ref/place", message, "no change is needed")

    def _at(self, file: SourceFile, pointer: str) -> Written | None:
        """What is at `pointer`, also behind a reference on the way. None: nothing.

        Raises `UnusableReference`.
        """
        with suppress(NoSuchPlace):
            return Written(follow(self.value_of(file), pointer), Spot(file, pointer))
        value, spot = Written(self.value_of(file), Spot(file, ""))
        self._followed += 1
        try:
            for step in steps(pointer):
                if is_reference(value) and step not in value and self._followed < _MAX_FOLLOWED:
                    value, spot = self.members(value, spot).get(step, Written(None, spot))
                else:
                    value, spot = follow(value, child("", step)), spot.at(step)
        except NoSuchPlace:
            return None
        finally:
            self._followed -= 1
        return None if value is None else Written(value, spot)

    def value_of(self, file: SourceFile) -> Any:
        """The value of `file`. An overlay may have replaced that of the first one."""
        return self.source.value if file is self.source.file else file.value

    def reference(self, kind: str, ref: object, spot: Spot) -> str:
        """The `$ref` of the normal form for `ref`, written at `spot`, to an object of `kind`."""
        try:
            target = self.target(ref, spot)
        except UnusableReference as error:
            return self.refuse(spot.at("$ref"), error.rule, error.message, error.fix)
        key = (kind, target.spot.file.path, target.spot.pointer)
        if key not in self._placed:
            name = self._placed[key] = self._free_name(SECTIONS[kind], target.spot)
            self.moved[f"/components/{SECTIONS[kind]}{child('', name)}"] = target.spot
            self.waiting.append(Waiting(kind, name, target))
        return f"#/components/{SECTIONS[kind]}{child('', self._placed[key])}"

    def refuse(self, spot: Spot, rule: str, message: str, fix: str | None = None) -> str:
        """Record that the part at `spot` cannot be served. Returns a `$ref` to the refusal."""
        fix = fix or FIXES.get(rule, "correct the document, or leave the operation out")
        self.refusals.append(Noted(spot, rule, message, fix, Severity.ERROR))
        return f"#/{REFUSED}/{len(self.refusals) - 1}"

    def note(self, spot: Spot, rule: str, message: str, fix: str) -> None:
        """Record that the part at `spot` is not served exactly as it is written."""
        self.notes.append(Noted(spot, rule, message, fix, Severity.NOTE))

    def count(self, nodes: int = 1) -> None:
        """Count normalised values. Raises `DocumentRefused` if the budget is used up."""
        try:
            self.source.meter.add(nodes)
        except OutOfBudget as error:
            finding = self.source.file.finding(
                "", "document/too-large", str(error), "use fewer nested references"
            )
            raise DocumentRefused([finding]) from None

    def _open(self, path: str) -> SourceFile:
        try:
            return self.folder.open(path)
        except DocumentRefused as error:
            raise UnusableReference("ref/dangling", error.findings[0].message) from None
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise UnusableReference("ref/dangling", f"{path} cannot be read: {reason}") from None

    def _free_name(self, section: str, spot: Spot) -> str:
        """A name for the target at `spot`, the same in every run."""
        taken = self._names.setdefault(section, set())
        written = _written_name(spot)
        name = UNCLEAN.sub("_", written)[:_MAX_NAME].strip("_") or "part"
        if name != written or name in taken:
            place = f"{spot.file.path}#{spot.pointer}".encode()
            name = f"{name}_{hashlib.sha256(place).hexdigest()[:8]}"
        taken.add(name)
        return name


def _written_name(spot: Spot) -> str:
    path = steps(spot.pointer)
    if not path:
        return spot.file.path.rpartition("/")[2].partition(".")[0]
    is_named = len(path) > 1 and path[-2] in _NAMED_IN
    return path[-1] if is_named else "_".join(path)
