"""Separate environments for programs of others, because the project does not depend on them."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from msgspec import Struct
from processes import BenchError

FOLDER: Final = Path(__file__).resolve().parents[2] / ".bench"
# A package mirror may not have the version of certifi that FastMCP requires. TLS is not used here.
_OVERRIDES: Final = "certifi\n"


class Peer(Struct, frozen=True):
    """A program of others, and what it runs with."""

    name: str
    """That of its package."""
    version: str
    beside: tuple[str, ...] = ()
    """Packages that are installed beside it."""

    def program(self, name: str = "python") -> Path:
        """A program of its environment, which is made on first use. Raises `BenchError`."""
        environment = FOLDER / f"{self.name}-{self.version}"
        stamp = environment / "installed"
        if not stamp.exists():
            print(f"installing {self.name} {self.version} into {environment}", file=sys.stderr)
            self._install(environment)
            stamp.touch()
        return environment / "bin" / name

    def _install(self, environment: Path) -> None:
        FOLDER.mkdir(exist_ok=True)
        overrides = FOLDER / "overrides.txt"
        overrides.write_text(_OVERRIDES)
        uv = str(Path(sys.executable).parent / "uv")
        python = str(environment / "bin" / "python")
        venv = ("venv", "--quiet", "--allow-existing", "--python", sys.executable)
        self._run(uv, *venv, str(environment))
        self._run(
            *(uv, "pip", "install", "--quiet", "--python", python, "--override", str(overrides)),
            *(f"{self.name}=={self.version}", *self.beside),
        )

    def _run(self, *command: str) -> None:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise BenchError(f"uv cannot be started ({error}): run `make setup`") from error
        if done.returncode != 0:
            raise BenchError(
                f"{self.name} {self.version} cannot be installed, which needs a package index: "
                f"{done.stderr.strip()[-500:]}"
            )


# uvicorn is fastest with these two. The gateway also uses them.
FASTMCP: Final = Peer("fastmcp", "4.1.6", ("uvloop", "httptools"))
PY_SPY: Final = Peer("py-spy", "0.4.3")
CONTEXTFORGE: Final = Peer("mcp-contextforge-gateway", "1.0.7.post20260921")
GRANIAN: Final = Peer("granian", "2.8.7", ("uvloop",))
