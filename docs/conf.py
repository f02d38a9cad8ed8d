"""How the documentation is built: `make docs`."""  # noqa: INP001 - a folder of pages, no package

from importlib import metadata

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
exclude_patterns = ["_build"]

# What `sphinx-build -b linkcheck` leaves alone: examples that name the reader's own gateway.
linkcheck_ignore = [r"http://127\.0\.0\.1.*", r"http://localhost.*", r"https://gateway\.example.*"]
