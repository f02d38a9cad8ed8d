"""What is generated does not depend on the process that generates it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from gateway.authoring.contracts import meta
from tests.gateway_process import REPOSITORY

SCRIPT = (
    "import sys; from pathlib import Path; from gateway.authoring.codegen.generate import generate;"
    "root = Path(sys.argv[1]); generate(root / 'schemas', root / 'generated', root / 'docs')"
)


def written(root: Path, **variables: str) -> dict[str, bytes]:
    """What a process with these variables generates in the project at `root`."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)} | variables
    program = [sys.executable, "-c", SCRIPT, str(root)]
    subprocess.run(program, check=True, env=environment, cwd=root)
    files = [*(root / "generated").rglob("*"), *(root / "docs").rglob("*")]
    return {str(file.relative_to(root)): file.read_bytes() for file in files if file.is_file()}


def test_the_text_does_not_depend_on_hash_seed_folder_time_zone_or_locale(tmp_path: Path) -> None:
    """Two processes that differ in all of them write the same bytes."""
    first, second = tmp_path / "copy one", tmp_path / "another copy"
    for root in (first, second):
        shutil.copytree(REPOSITORY / "tests/golden/whole/in", root / "schemas")
        meta.install(root / "schemas")

    one = written(first, PYTHONHASHSEED="1", LC_ALL="C", TZ="Asia/Tokyo")
    other = written(second, PYTHONHASHSEED="4242", LC_ALL="C.UTF-8", TZ="UTC")

    assert one
    assert one == other
    assert not [name for name, text in one.items() if str(tmp_path).encode() in text]
