"""A separate environment for FastMCP, because the project does not depend on it."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from processes import BenchError

VERSION: Final = "4.1.6"
FOLDER: Final = Path(__file__).resolve().parents[2] / ".bench"
# uvicorn is fastest with these two. The gateway also uses them.
_PACKAGES: Final = (f"fastmcp=={VERSION}", "uvloop", "httptools")
# A package mirror may not have the version of certifi that FastMCP requires. TLS is not used here.
_OVERRIDES: Final = "certifi\n"


def interpreter() -> Path:
    """The Python with FastMCP, installed on first use. Raises `BenchError`."""
    environment = FOLDER / f"fastmcp-{VERSION}"
    python = environment / "bin" / "python"
    stamp = environment / "installed"
    if not stamp.exists():
        print(f"installing fastmcp {VERSION} into {environment}", file=sys.stderr)
        _install(environment, python)
        stamp.touch()
    return python


def _install(environment: Path, python: Path) -> None:
    FOLDER.mkdir(exist_ok=True)
    overrides = FOLDER / "overrides.txt"
    overrides.write_text(_OVERRIDES)
    uv = str(Path(sys.executable).parent / "uv")
    _run(uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(environment))
    _run(
        *(uv, "pip", "install", "--quiet", "--python", str(python)),
        *("--override", str(overrides)),
        *_PACKAGES,
    )


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BenchError(f"uv cannot be started ({error}): run `make setup`") from error
    if done.returncode != 0:
        raise BenchError(
            f"fastmcp {VERSION} cannot be installed (a package index is needed; "
            f"--without-fastmcp measures without it): {done.stderr.strip()[-500:]}"
        )
