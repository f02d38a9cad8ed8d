"""The version of the generator, and the cache of what this version has rendered."""

import hashlib
import importlib.metadata
from pathlib import Path
from typing import Final

from gateway.codegen.render.artifact import GENERATOR_VERSION
from gateway.contracts.cache import RENDERINGS, Cache
from gateway.installed import AUTHOR_LIBRARIES

CACHE_FOLDER: Final = ".gateway-cache"

_ROOMS: Final = ("codegen", "contract", "contracts", "encoding", "lint", "mapping", "openapi")
_DECIDING_LIBRARIES: Final = (*AUTHOR_LIBRARIES, "jsonschema-rs", "pyyaml")


def renderings(schemas: Path) -> Cache:
    """The texts that earlier runs of this version have rendered from `schemas`."""
    folder = schemas.resolve().parent / CACHE_FOLDER
    return Cache(folder / RENDERINGS, generator_version())


def generator_version() -> str:
    """A text that changes with the generator, the lint or a library that affects the output."""
    rooms = Path(__file__).parents[1]
    folders = [rooms / name for name in _ROOMS]
    found = (path for folder in folders for path in folder.rglob("*"))
    files = sorted(path for path in found if path.suffix in {".py", ".json"})
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    return " ".join([GENERATOR_VERSION, digest, *map(_installed, _DECIDING_LIBRARIES)])


def _installed(name: str) -> str:
    found = importlib.metadata.distributions(name=name)
    return f"{name} {next((each.version for each in found), 'not installed')}"
