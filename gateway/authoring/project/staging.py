"""Generates a new or a changed project in a stage: a change is whole, or does not happen."""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import Struct

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.project.changes import Files
from gateway.contract import event
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import ConfigurationError, ContractError
from gateway.installed import Origin, requirement
from gateway.library import library_folder

# A new project: its files from the template, the library and the meta-schemas, and their code.

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


# Generates a project with changed files in a stage: a change is whole, or does not happen.

SETTINGS: Final = PurePosixPath("gateway.toml")
PAGES: Final = PurePosixPath("docs/reference/tools")
"""Where a project may have its reference pages as files. Without it they are only served."""


class Project(Struct, frozen=True, kw_only=True):
    """The project that a command changes."""

    folder: Path
    schemas: Path
    """The schemas folder, in `folder`."""
    handler_packages: tuple[str, ...]
    version: str
    """The version of this gateway."""
    package: str = GENERATED_PACKAGE
    """The import name of the generated package."""

    @property
    def parts(self) -> tuple[PurePosixPath, ...]:
        """The files and folders of the project that commands change."""
        packages = (self.package, *self.handler_packages)
        folders = (PurePosixPath(*name.split(".")) for name in packages)
        return (self.place_of(PurePosixPath()), *folders, PAGES, SETTINGS, FILE)

    def place_of(self, path: PurePosixPath) -> PurePosixPath:
        """The place of a contract file in the project."""
        name = self.schemas.name
        return PurePosixPath(self.schemas.resolve().name if name in {"", ".."} else name) / path


class ProjectChange(Struct, frozen=True, kw_only=True):
    """The files of a project that a command writes and removes."""

    files: Files
    removed: tuple[PurePosixPath, ...] = ()


def with_generated(
    project: Project, files: Files, removed: Collection[PurePosixPath] = ()
) -> ProjectChange:
    """What changes in the project if `files` are written, `removed` are removed, and the package
    and pages are generated. Nothing is written.

    Raises `ContractRefused` if the contracts then have findings, and `ContractError`.
    """
    package = PurePosixPath(*project.package.split("."))
    made = [package, PAGES] if (project.folder / PAGES).is_dir() else [package]
    with tempfile.TemporaryDirectory(prefix="gateway-stage-") as name:
        stage = Path(name)
        for each in (project.place_of(PurePosixPath()), *made):
            if (project.folder / each).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(project.folder / each, stage / each, ignore=ignored)
        for path in removed:
            (stage / path).unlink(missing_ok=True)
        for path, content in files.items():
            (stage / path).parent.mkdir(parents=True, exist_ok=True)
            (stage / path).write_bytes(content)
        _generate(project, stage, stage / PAGES if len(made) > 1 else None)
        generated = _contents(stage, made)
    obsolete = _contents(project.folder, made).keys() - generated.keys()
    return ProjectChange(
        files=_changed(project.folder, {**files, **generated}),
        removed=tuple(sorted({*removed, *obsolete} - files.keys())),
    )


def _generate(project: Project, stage: Path, pages: Path | None) -> None:
    names = PackageNames(package=project.package, of_handlers=project.handler_packages)
    package = stage.joinpath(*project.package.split("."))
    try:
        generate(stage / project.place_of(PurePosixPath()), package, pages, names=names)
    except ContractRefused:
        raise
    except ContractError as error:
        # The stage is gone when its author reads this.
        raise ContractError(error.detail.replace(str(stage), str(project.folder))) from None


def read_text(file: Path) -> str:
    """The text of a file of the project. Raises `ConfigurationError` if it cannot be read."""
    try:
        # `read_text` of a path would change the ends of lines.
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(f"{file} cannot be read as UTF-8 text; restore it") from None


def _contents(folder: Path, parts: Collection[PurePosixPath]) -> dict[PurePosixPath, bytes]:
    found = (path for part in parts for path in (folder / part).rglob("*") if path.is_file())
    return {
        PurePosixPath(path.relative_to(folder).as_posix()): path.read_bytes()
        for path in found
        if "__pycache__" not in path.parts
    }


def _changed(folder: Path, files: Files) -> Files:
    """Those of `files` that `folder` does not contain."""
    return {
        path: content
        for path, content in files.items()
        if not (folder / path).is_file() or (folder / path).read_bytes() != content
    }
