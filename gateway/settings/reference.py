"""The reference page of the settings, so that what exists is documented.

Written by `python -m gateway.settings.reference > docs/reference/settings.md`; a test compares.
"""

import sys
from typing import Final

from gateway.settings.declared import SETTINGS, Setting

_HEAD: Final = """\
# Settings

<!-- Written by `python -m gateway.settings.reference`. Do not edit. -->

A setting is a `GATEWAY_*` variable, a key of `gateway.toml`, or a flag of the command line, in
rising order: where several say something, the flag wins over the file and the file over the
variable. An empty variable counts as not set. `gateway config` prints every setting with its
value and where it came from; secrets are masked. A value that is out of range or of the wrong
type stops the gateway with one line that names the setting; so does an unknown key in
`gateway.toml`. `gateway doctor` reports `GATEWAY_*` variables that nothing reads.

`gateway.toml` is read from the working folder, or from where `GATEWAY_CONFIG` or `--config` says.
Relative paths are relative to the working folder. Any secret can be given as a file instead: add
`_FILE` to the variable or `_file` to the key and name the file.

## The gateway

| key | variable | must be | default | meaning |
|---|---|---|---|---|
"""
_UPSTREAM_ROWS: Final = (
    ("backend", "GATEWAY_BACKEND_AVINODE", "live or mock", "see below", "Backend to use."),
    ("base_url", "GATEWAY_AVINODE_BASE_URL", "an https URL", "the contract's", "Where it is."),
    ("api_token", "GATEWAY_AVINODE_API_TOKEN", "printable ASCII", "", "The credential."),
    ("api_token_file", "GATEWAY_AVINODE_API_TOKEN_FILE", "a path", "", "File that holds it."),
)
_TAIL: Final = """
## Upstreams

Which upstreams exist, and which credentials they need, their contracts say. For the upstream
`avinode` with the credential `api_token`:

| key | variable | must be | default | meaning |
|---|---|---|---|---|
{rows}

Without `backend`, an upstream is a mock when none of its credentials is set or when they start
with `mock_`, else it is live. Some credentials without the others, a missing base URL, or real
credentials beside `mock_` ones are refused: `gateway doctor` says which, and `gateway serve` does
not start. `http://` is accepted for this machine alone unless `allow_plain_http` is set.
"""


def render_reference() -> str:
    """The page as Markdown."""
    rows = [_row(setting) for setting in SETTINGS.values()]
    upstream_rows = (
        f"| `upstreams.avinode.{key}` | `{variable}` | {rule} | {default} | {meaning} |"
        for key, variable, rule, default, meaning in _UPSTREAM_ROWS
    )
    return _HEAD + "".join(rows) + _TAIL.format(rows="\n".join(upstream_rows))


def _row(setting: Setting) -> str:
    default = f"`{setting.default_shown}`" if setting.default_shown else ""
    return (
        f"| `{setting.key}` | `{setting.name.variable}` | {setting.rule} | {default} "
        f"| {setting.description} |\n"
    )


if __name__ == "__main__":
    sys.stdout.write(render_reference())
