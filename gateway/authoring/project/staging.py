"""Generates a project with changed files in a stage: a change is whole, or does not happen."""

import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

from gateway.authoring.codegen.generate import PackageNames, generate
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.project.placing import Files
from gateway.authoring.project.starting import FILE, GENERATED_PACKAGE
from gateway.errors import ConfigurationError, ContractError

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
