"""Formats new modules with one run of ruff, which also removes unused imports and sorts imports."""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from gateway.errors import ContractError

_COMMON: Final = ("--isolated", "--no-cache", "--quiet", "--target-version", "py311")
_FIXED_RULES: Final = ("--select", "I,F401,UP034")
_LINE_LENGTH: Final = ("--line-length", "100")


def formatted(sources: Mapping[PurePosixPath, str], package: str) -> dict[PurePosixPath, str]:
    """The formatted text of each module. `package` is the package of the modules.

    Raises `ContractError` if ruff cannot be run, or if it refuses a text, which is a defect of the
    generator.
    """
    if not sources:
        return {}
    with tempfile.TemporaryDirectory(prefix="gateway-generate-") as folder:
        root = Path(folder)
        for path, text in sources.items():
            file = root / package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        first_party = f'lint.isort.known-first-party=["gateway", "{package}"]'
        _ruff(root, ("check", *_FIXED_RULES, "--fix", *_LINE_LENGTH, "--config", first_party))
        _ruff(root, ("format", *_LINE_LENGTH))
        return {path: (root / package / path).read_bytes().decode() for path in sources}


def _ruff(root: Path, arguments: Sequence[str]) -> None:
    from ruff import (  # type: ignore[import-untyped]  # noqa: PLC0415 - untyped, and of the extra `author`
        find_ruff_bin,
    )

    command = arguments[0], *_COMMON, *arguments[1:], "."
    try:
        run = subprocess.run(  # noqa: S603  fixed program and options, texts only by file
            [find_ruff_bin(), *command], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ContractError(
            f"ruff, which formats generated code, cannot be run: {error}"
        ) from error
    if run.returncode != 0:
        detail = (run.stderr or run.stdout).strip().partition("\n")[0]
        raise ContractError(f"the generated code cannot be formatted: {detail}")
