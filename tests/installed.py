"""The wheel, built from this checkout and installed into an environment of its own."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY

NAME: Final = "contract-gateway"
_SCRIPT: Final = """\
#!{python}
import sys
from gateway.__main__ import main
sys.exit(main())
"""


def build(folder: Path) -> Path:
    """The wheel, in `folder`."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(
        command, cwd=REPOSITORY, check=True, capture_output=True, timeout=PATIENCE_SECONDS
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path, *extras: str) -> Path:
    """The `gateway` command of a new environment in `folder`, which has no other code of ours.

    Nothing is fetched: what the wheel requires with `extras`, and nothing else, is linked from the
    environment of the tests.
    """
    venv.create(folder / "venv", symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder / "venv")}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (own,) = site.glob("contract_gateway-*.dist-info")
    for each in _required(Distribution.at(own), {NAME}, ("", *extras)):
        _link(each, site)
    script = folder / "venv" / "bin" / "gateway"
    script.write_text(_SCRIPT.format(python=folder / "venv" / "bin" / "python"), "utf-8")
    script.chmod(0o755)
    return script


def _required(
    asking: Distribution, found: set[str], extras: tuple[str, ...] = ("", "asyncio", "crypto")
) -> Iterator[Distribution]:
    """The distributions that `asking` needs with `extras`, once each, with their requirements."""
    for text in asking.requires or ():
        wish = Requirement(text)
        name = canonicalize_name(wish.name)
        is_wanted = wish.marker is None or any(
            wish.marker.evaluate({"extra": extra}) for extra in extras
        )
        if name in found or not is_wanted:
            continue
        found.add(name)
        try:
            needed = distribution(name)
        except PackageNotFoundError:
            continue  # an extra of a library that nobody asked for
        yield needed
        yield from _required(needed, found)


def _link(needed: Distribution, site: Path) -> None:
    files = [Path(str(needed.locate_file(file))).resolve() for file in needed.files or ()]
    own = Path(str(needed.locate_file(""))).resolve()
    tops = {file.relative_to(own).parts[0] for file in files if file.is_relative_to(own)}
    for top in tops - {"__pycache__"}:
        if not (site / top).exists():
            (site / top).symlink_to(own / top)
    commands = site.parents[2] / "bin"
    for file in files:
        # Programs such as ruff. Scripts of Python name the environment of the tests.
        if file.parent.name == "bin" and file.read_bytes()[:2] != b"#!":
            (commands / file.name).symlink_to(file)
