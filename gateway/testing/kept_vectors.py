"""The vectors of all contracts of a project: made once for each schema, or read from its files."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.authoring.codegen.snapshot import CACHE_FOLDER
from gateway.authoring.contracts.cache import read_sealed, write_sealed
from gateway.authoring.contracts.names import payload_stem
from gateway.authoring.contracts.tree import VECTORS
from gateway.catalogue import Catalogue
from gateway.cli.project import package_folder
from gateway.contract import schemas as schemas_package
from gateway.contract.values.schema import Validator
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.testing import vectors as vectors_module
from gateway.testing.vectors import Vector, Vectors, judged_vectors, schema_hash, vectors_of

_FOLDER: Final = "vectors"


class ContractSchema(Struct, frozen=True, kw_only=True):
    """One schema of a contract."""

    subject: str
    """The id of the tool, webhook or event, and which of its schemas it is."""
    path: PurePosixPath
    """The file, relative to the schemas folder. Derived contracts have none there."""
    schema: dict[str, Any]
    examples: tuple[Any, ...] = ()

    @property
    def vectors_path(self) -> PurePosixPath:
        """Where its vectors are kept: beside the file of the schema."""
        return self.path.with_name(self.path.name.removesuffix(".json") + VECTORS)


class KeptVectors(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file with vectors."""

    schema: str
    """The hash of the schema that they were made of."""
    digest: str
    """The hash of the vectors: a file from which a vector was taken would pass with fewer."""
    vectors: tuple[Vector, ...]


def schemas_of(catalogue: Catalogue, settings: Settings) -> Iterator[ContractSchema]:
    """The schemas of the contracts of a project, imported documents aside."""
    for entry in catalogue.entries:
        if entry.operation.is_imported:
            continue
        connector, _, tool = entry.id.partition(".")
        stem = PurePosixPath("tools", connector, tool)
        listing = entry.listing
        yield ContractSchema(
            subject=f"{entry.id} input",
            path=stem.with_name(f"{tool}.input.json"),
            schema=listing.input_schema,
            examples=tuple(catalogue.examples(entry).values()),
        )
        yield ContractSchema(
            subject=f"{entry.id} output",
            path=stem.with_name(f"{tool}.output.json"),
            schema=listing.output_schema,
        )
    file = package_folder(settings) / "webhooks.json"
    payloads: dict[str, Any] = msgspec.json.decode(file.read_bytes()) if file.is_file() else {}
    for provider, declared in catalogue.webhooks.items():
        for event in declared.source.events:
            name = f"{payload_stem(event.type)}.payload.json"
            yield ContractSchema(
                subject=f"{provider}.{event.type} payload",
                path=PurePosixPath("webhooks", provider, name),
                schema=payloads[provider][event.type],
            )
    for name, compiled in catalogue.events.items():
        yield ContractSchema(
            subject=f"{name} event",
            path=PurePosixPath("events", f"{name.removeprefix('gateway.')}.json"),
            schema=compiled.event.schema,
        )


def vectors_for(contract: ContractSchema, folder: Path, *, is_new: bool = False) -> Vectors:
    """Its vectors: those that the author keeps, else those that are made. `folder`: the schemas.

    `is_new`: they are made although others are kept. Raises `ConfigurationError` for kept vectors
    that cannot be used.
    """
    kept = None if is_new else read_kept(contract, folder)
    if kept is None:
        basis = json.dumps([contract.schema, contract.examples], sort_keys=True)
        return _remembered(
            folder, contract, basis, lambda: vectors_of(contract.schema, contract.examples)
        )
    basis = msgspec.json.encode([contract.schema, kept]).decode()
    return _remembered(folder, contract, basis, lambda: judged_vectors(contract.schema, kept))


def read_kept(contract: ContractSchema, folder: Path) -> tuple[Vector, ...] | None:
    """The vectors that the author keeps. None if there are none.

    Raises `ConfigurationError` for a file that does not have the form, is of another schema, or
    was edited by hand, or has a vector with another verdict than the schema.
    """
    file = folder / contract.vectors_path
    if not file.is_file():
        return None
    try:
        found = msgspec.json.decode(file.read_bytes(), type=KeptVectors)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _refused(contract, "", f"has another form: {error}") from None
    if found.schema != schema_hash(contract.schema):
        raise _refused(contract, "/schema", f"is not the hash of {contract.path}: it has changed")
    gate = Validator(contract.schema)
    names = set()
    for index, vector in enumerate(found.vectors):
        at = f"/vectors/{index}"
        if vector.name in names:
            raise _refused(contract, f"{at}/name", "is the name of an earlier vector")
        names.add(vector.name)
        if gate.admits(vector.value) is not vector.valid:
            says = "admits" if vector.valid is False else "refuses"
            raise _refused(contract, f"{at}/valid", f"is wrong: the schema {says} the value")
    if found.digest != _digest(found.vectors):
        raise _refused(contract, "/digest", "is not the hash of the vectors: they were edited")
    return found.vectors


def _digest(vectors: Sequence[Vector]) -> str:
    text = json.dumps(msgspec.to_builtins(vectors), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _refused(contract: ContractSchema, pointer: str, what: str) -> ConfigurationError:
    fix = "look at the change of the contract, then run `gateway vectors --keep`"
    return ConfigurationError(f"{contract.vectors_path}#{pointer} {what}; {fix}")


def written(contract: ContractSchema, vectors: Sequence[Vector]) -> str:
    """The text of the file with these vectors: one line for each."""
    lines = ",\n".join(
        f"    {json.dumps(msgspec.to_builtins(each), ensure_ascii=False)}" for each in vectors
    )
    head = f'"schema": "{schema_hash(contract.schema)}",\n  "digest": "{_digest(vectors)}"'
    return f'{{\n  {head},\n  "vectors": [\n{lines}\n  ]\n}}\n'


def _remembered(
    folder: Path, contract: ContractSchema, basis: str, make: Callable[[], Vectors]
) -> Vectors:
    name = hashlib.sha256(str(contract.path).encode()).hexdigest()[:16]
    file = folder.resolve().parent / CACHE_FOLDER / _FOLDER / name
    key = hashlib.sha256(f"{_version()}\0{basis}".encode()).hexdigest()
    known = _read(file, key)
    if known is None:
        known = make()
        write_sealed(file, msgspec.json.encode({"key": key, "vectors": known}))
    return known


class _Cached(Struct, frozen=True):
    key: str
    vectors: Vectors


def _read(file: Path, key: str) -> Vectors | None:
    try:
        found = msgspec.json.decode(read_sealed(file) or b"", type=_Cached)
    except msgspec.MsgspecError:
        return None
    return found.vectors if found.key == key else None


@cache
def _version() -> str:
    """A text that changes with what makes vectors."""
    folder = Path(str(schemas_package.__file__)).parent
    files = [*sorted(folder.glob("*.py")), Path(str(vectors_module.__file__))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    library = version("jsonschema-rs")
    return f"{digest} {library}"


def by_subject(catalogue: Catalogue, settings: Settings) -> Mapping[str, ContractSchema]:
    """The schemas of a project by their subject."""
    return {each.subject: each for each in schemas_of(catalogue, settings)}
