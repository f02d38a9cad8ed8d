"""How the documentation is built: `make docs`."""  # noqa: INP001 - a folder of pages, no package

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

project = "contract-gateway"
author = "the contract-gateway authors"
copyright = "the contract-gateway authors, Apache-2.0"  # noqa: A001 - Sphinx reads this name
release = metadata.version("contract-gateway")

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"contract-gateway {release}"
html_copy_source = False
# Dated reports and the texts of decisions are read in the repository.
exclude_patterns = ["_build", "contributing/conflicts.md", "contributing/reports/*", "decisions/*"]
ROOT = Path(__file__).resolve().parent.parent

# What `sphinx-build -b linkcheck` leaves alone: examples that name the reader's own gateway.
linkcheck_ignore = [r"http://127\.0\.0\.1.*", r"http://localhost.*", r"https://gateway\.example.*"]


def setup(app: Any) -> None:
    """Write the pages that no commit has, before Sphinx looks for pages."""
    script = ROOT / "scripts" / "reference.py"
    subprocess.run([sys.executable, script], cwd=ROOT, check=True)  # noqa: S603 - our own script
    app.connect("source-read", _without_texts_of_decisions)


def _without_texts_of_decisions(_app: object, _page: str, source: list[str]) -> None:
    """Leave the numbers of decisions, whose links lead to files that only the repository has."""
    source[0] = re.sub(r"\[([^\]]*)\]\((?:\.\./)*decisions/\d[^)]*\)", r"\1", source[0])
