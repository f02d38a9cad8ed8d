"""`gateway.lock`: which connectors a project has from the library, from which version, unedited."""

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import Struct

from gateway.errors import ConfigurationError
from gateway.project.placing import Files

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
