"""Which members of a multipart body are files, also behind references, lists and unions."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from gateway.openapi.lowering.records import Unservable
from gateway.openapi.lowering.view import DocumentView

Shape = Literal["file", "list", "text", "value"]
"""A file, a list of files, a text that is no file, or any other value but null."""

_NO_FILE: Final[frozenset[Shape]] = frozenset({"text", "value"})
_FILES: Final[frozenset[Shape]] = frozenset({"file", "list"})
_UNIONS: Final = ("anyOf", "oneOf")
_FIX: Final = "describe the files as members of the body with an overlay, or exclude the operation"


class FileShapes:
    """Finds the shapes of the values that schemas of the normal form admit."""

    def __init__(self, view: DocumentView, pointer: str) -> None:
        """`pointer` is that of the body, for refusals."""
        self._view = view
        self._pointer = pointer
        self._known: dict[str, frozenset[Shape]] = {}

    def of(self, schema: Any) -> frozenset[Shape]:
        """The shapes. Empty: the only value is null. Raises `Unservable` and `PartRefused`."""
        if not isinstance(schema, dict):
            return _NO_FILE
        parts = [self.of(each) for each in schema.get("allOf", ())]
        parts += [
            self._of_any(schema[name]) for name in _UNIONS if isinstance(schema.get(name), list)
        ]
        if "$ref" in schema:
            parts.append(self._of_reference(schema["$ref"]))
        parts.append(self._of_own(schema))
        # A file is text for JSON Schema: what else must hold for the text does not change that.
        files = [each for each in parts if each & _FILES]
        if files:
            return frozenset.intersection(*files) or files[0]
        return frozenset.intersection(*parts) or parts[0] if all(parts) else frozenset()

    def files_of(self, schema: Any) -> frozenset[Shape]:
        """The shapes of a part that may be a file. Empty: it is none.

        A file is text for callers, so a text that is no file cannot be told from one: then all
        values that are no files are left out. Raises `Unservable` and `PartRefused`.
        """
        found = self.of(schema)
        files = found & _FILES
        if files and "text" in found:
            message = "the part is a file, so values that are no files are left out"
            self._view.note(self._pointer, "body/file-or-value", message)
            return files
        return found if files else frozenset()

    def refuse_maps(self, schema: Any) -> None:
        """Raise `Unservable` if members that `schema` does not name may be files."""
        for part in self._combined(schema):
            maps = part.get("patternProperties")
            others = [part.get("additionalProperties"), *(maps or {}).values()]
            if any(self.of(each) & _FILES for each in others):
                raise self._refused("body/files-by-name", "files have names that nothing declares")

    def _combined(self, schema: Any) -> Iterable[Mapping[str, Any]]:
        """`schema`, and the schemas that it combines for the same value."""
        passed: set[str] = set()
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict):
                continue
            yield part
            reference = part.get("$ref")
            if reference is not None and reference not in passed:
                passed.add(reference)
                waiting.append(self._view.part({"$ref": reference}, self._pointer).value)
            for keyword in ("allOf", *_UNIONS):
                waiting.extend(part.get(keyword, ()))

    def _of_any(self, branches: Iterable[Any]) -> frozenset[Shape]:
        return frozenset(shape for each in branches for shape in self.of(each))

    def _of_reference(self, reference: str) -> frozenset[Shape]:
        if reference not in self._known:
            # A schema that refers to itself says nothing more the second time.
            self._known[reference] = _NO_FILE
            target = self._view.part({"$ref": reference}, self._pointer).value
            self._known[reference] = self.of(target)
        return self._known[reference]

    def _of_own(self, schema: Mapping[str, Any]) -> frozenset[Shape]:
        if self._view.is_binary({name: each for name, each in schema.items() if name != "$ref"}):
            return frozenset({"file"})
        types = schema.get("type")
        types = types if isinstance(types, list) else [types]
        if types == ["null"] or schema.get("const", schema.get("enum", "")) in (None, [None]):
            return frozenset()
        others: set[Shape] = set()
        if {None, "string"} & {*types}:
            others.add("text")
        if {*types} - {"string", "null", "array"}:
            others.add("value")
        if "array" not in types:
            return frozenset(others)
        inner = self.of(schema.get("items", True))
        if "list" in inner:
            raise self._refused("body/nested-files", "lists of lists of files cannot be sent")
        if "file" not in inner:
            return frozenset({*others, "value"})
        return frozenset({*others, *inner, "list"} - {"file"})

    def _refused(self, rule: str, message: str) -> Unservable:
        return Unservable(self._pointer, rule, message, _FIX)
