"""A new project: its files from the template, the library and the meta-schemas, and their code."""

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import Struct

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.contracts import meta
from gateway.authoring.project.placing import Files
from gateway.contract import event
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import ConfigurationError
from gateway.installed import Origin, requirement
from gateway.library import library_folder

# `gateway.lock`: which connectors a project has from the library, from which version, unedited.

FILE: Final = PurePosixPath("gateway.lock")


class Pins(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of the file."""

    connectors: Mapping[str, str] = {}
    """By name, the version of the gateway that they are from."""
    files: Mapping[str, str] = {}
    """By path, the SHA-256 of the library's content in hexadecimal."""

    def adding(self, names: tuple[str, ...], version: str, files: Files) -> "Pins":
        """These pins with more connectors and files of `version`."""
        digests = {str(path): digest_of(content) for path, content in files.items()}
        return Pins(
            connectors=dict(sorted({**self.connectors, **dict.fromkeys(names, version)}.items())),
            files=dict(sorted({**self.files, **digests}.items())),
        )

    def encoded(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def digest_of(content: bytes) -> str:
    """The SHA-256 of `content` in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_pins(folder: Path) -> Pins:
    """The pins of the project in `folder`. Raises `ConfigurationError` for a damaged file."""
    file = folder / FILE
    try:
        return msgspec.json.decode(file.read_bytes(), type=Pins)
    except FileNotFoundError:
        return Pins()
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigurationError(
            f"{file} cannot be read ({error}); restore it from version control"
        ) from None


# A new project: its files from the template, the library and the meta-schemas, and their code.

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}")
GENERATED_PACKAGE: Final = "generated"
OWN_PACKAGES: Final = ("handlers", *HANDLER_PACKAGES)
"""The connector packages of a new project, as its `gateway.toml` has them."""
_EXTRAS: Final = ("author", "test")
_SUFFIX: Final = ".template"
"""The suffix of the files of the template, so that no tool takes them for its own."""
_OTHERWISE: Final = "gateway-project"
_SCHEMAS: Final = PurePosixPath("schemas")
_LAST: Final = _SCHEMAS / "openapi.yaml"
"""The file that makes a folder a project. It is written last."""
_EVENTS: Final = (
    event.CONFLICTED,
    event.CONTRACT_CHANGED,
    event.DEAD_LETTERED,
    event.ENDPOINT_DISABLED,
    event.ENDPOINT_TESTED,
    event.JOB_COMPLETED,
    event.JOB_FAILED,
    event.QUARANTINED,
)
"""The events that every gateway publishes."""


def name_of(folder: Path) -> str:
    """The name of a project in `folder`."""
    found = folder.resolve().name
    return found if NAME.fullmatch(found) else _OTHERWISE


def bare_project(name: str, version: str) -> Files:
    """The contracts of a project without tools, for imports. It has no generated package yet."""
    written = {**_of_template("bare", name, version), **_of_library(), **_meta_schemas()}
    return dict(sorted(written.items()))


def new_project(name: str, version: str, origin: Origin | None = None) -> Files:
    """All files of a new project, which `version` of the gateway serves.

    `origin` is where that was installed from, if from no index. Raises `ConfigurationError` for an
    invalid name.
    """
    if not NAME.fullmatch(name):
        raise ConfigurationError(
            "a project's name is 1 to 80 of the characters A-Z, a-z, 0-9, space, `.`, `_` and `-`, "
            "and begins with a letter or a digit; choose another --name"
        )
    of_library = _of_library()
    pins = {FILE: Pins().adding((), version, of_library).encoded()}
    needs = requirement(*_EXTRAS, version=version, origin=origin)
    written = {
        **_of_template("template", name, version, needs),
        **of_library,
        **_meta_schemas(),
        **pins,
    }
    everything = {**written, **_generated(written)}
    return dict(sorted(everything.items(), key=lambda each: (each[0] == _LAST, each[0])))


def _of_template(
    folder: str, name: str, version: str, needs: str = ""
) -> dict[PurePosixPath, bytes]:
    values = {"@NAME@": name, "@VERSION@": version, "@NEEDS@": needs}
    found = {}
    for path, file in _walk(resources(__package__) / folder, PurePosixPath()):
        text = file.read_text("utf-8")
        for mark, value in values.items():
            text = text.replace(mark, value)
        found[path.with_name(path.name.removesuffix(_SUFFIX))] = text.encode()
    return found


def _walk(folder: Traversable, at: PurePosixPath) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, at / entry.name)
        elif entry.name.endswith(_SUFFIX):
            yield at / entry.name, entry


def _of_library() -> dict[PurePosixPath, bytes]:
    """What every project has of the library: the gateway's own responses, events and format."""
    stems = [type_.removeprefix("gateway.") for type_ in _EVENTS]
    shared = ("content", "problem", "receipt")
    names = ["README.md", *(f"common/{stem}.json" for stem in shared)]
    names += [f"events/{stem}{suffix}" for stem in stems for suffix in (".yaml", ".json")]
    schemas = library_folder() / "schemas"
    return {_SCHEMAS / name: (schemas / name).read_bytes() for name in names}


def _meta_schemas() -> dict[PurePosixPath, bytes]:
    return {_SCHEMAS / "_meta" / name: text for name, text in meta.texts().items()}


def _generated(written: Files) -> dict[PurePosixPath, bytes]:
    """The generated package of these files."""
    with tempfile.TemporaryDirectory(prefix="gateway-init-") as folder:
        stage = Path(folder)
        for path, content in written.items():
            (stage / path).parent.mkdir(parents=True, exist_ok=True)
            (stage / path).write_bytes(content)
        names = PackageNames(package=GENERATED_PACKAGE, of_handlers=OWN_PACKAGES)
        generate(stage / "schemas", stage / GENERATED_PACKAGE, names=names)
        made = (path for path in (stage / GENERATED_PACKAGE).rglob("*") if path.is_file())
        return {PurePosixPath(p.relative_to(stage).as_posix()): p.read_bytes() for p in made}
