"""The reference page of the settings of the gateway, its upstreams and its webhook sources."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, TypeAlias

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.upstream import Upstream
from gateway.contract.webhook import WebhookSource
from gateway.settings.declared import SETTINGS, Setting
from gateway.settings.sources import Name, backend_name, upstream_name, webhook_name
from gateway.settings.webhooks import secrets_name

NOTICE: Final = "<!-- Written by `scripts/reference.py`. Do not edit. -->"
BAR: Final = "\\|"
"""An escaped bar, which does not end a table cell."""

MAX_PATTERN: Final = 60
"""The maximum length of a pattern on the page."""

SETTINGS_HEAD: Final = f"""\
# Settings

{NOTICE}

A setting is a `GATEWAY_*` variable, a key of `gateway.toml`, or a flag of the command line. If
several are set, the flag overrides the file, and the file overrides the variable. An empty variable
counts as not set. `gateway config` prints every setting with its value and its origin; secrets are
masked. A value that is out of range or of the wrong type stops the gateway with an error that names
the setting, and so does an unknown key in `gateway.toml`. `GATEWAY_*` variables that nothing reads
are ignored: `gateway serve`, `worker`, `mcp` and `run` log a warning for each, and `gateway doctor`
reports them.

`gateway.toml` is read from the working folder, or from the path in `GATEWAY_CONFIG` or `--config`.
Relative paths are relative to the working folder. Any secret can also be in a file: add `_FILE` to
the variable or `_file` to the key, and set it to the path of the file.

## The gateway

| key | variable | must be | default | meaning |
|---|---|---|---|---|
"""

UPSTREAMS_HEAD: Final = """
## Upstreams

Without `backend`, an upstream is a mock if none of its credentials is set, or if they start with
`mock_`. Else it is live. If the upstream has a workspace, the workspace is used instead of a mock.
If there are several ways to get an access token, the credentials for one of them are enough. The
gateway does not start if only some of the needed credentials are set, if an address or a setting is
missing, or if only some credentials start with `mock_`; `gateway doctor` names the cause. `http://`
is accepted only for this machine, unless `allow_plain_http` is set.
"""

SOURCES_HEAD: Final = """
## Webhooks

A profile without secrets is closed. For senders, a source without an open profile does not exist.
If no secret of the source is set and the sender's upstream is a mock (for a source without an
upstream: if all upstreams are), the first start creates a secret for each profile, in
`webhook-secrets` in the data folder. With a secret that is too short or
has a wrong form, the gateway does not start; `gateway doctor` names it. An empty list of networks
in `gateway.toml` accepts no messages. Name a proxy in `trusted_proxies`; otherwise, all messages
come from the address of the proxy.
"""


def render_settings() -> str:
    """Every setting of the gateway, of each upstream, and of each source of webhooks."""
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    upstreams = sorted(catalogue.upstreams.values(), key=lambda each: each.name)
    sources = sorted(catalogue.sources, key=lambda each: each.provider)
    return "".join(
        (
            SETTINGS_HEAD,
            *map(_setting_row, SETTINGS.values()),
            UPSTREAMS_HEAD,
            *(_section(upstream.title, _upstream_rows(upstream)) for upstream in upstreams),
            SOURCES_HEAD,
            *(_section(source.provider, _source_rows(source)) for source in sources),
        )
    )


Row: TypeAlias = tuple[Name, str, str, str]
"""Name, valid values, default, meaning."""


def _section(title: str, rows: Iterable[Row]) -> str:
    table = "".join(
        f"| `{name}` | `{name.variable}` | {must_be} | {default and f'`{default}`'} | {meaning} |\n"
        for name, must_be, default, meaning in rows
    )
    head = "| key | variable | must be | default | meaning |\n|---|---|---|---|---|\n"
    return f"\n### {title}\n\n{head}{table}"


def _source_rows(source: WebhookSource) -> Iterator[Row]:
    for profile in source.profiles:
        meaning = f"Secret of the profile `{profile.name}`; two with a comma during a rotation."
        name = secrets_name(source.provider, profile.name)
        yield name, profile.authentication.secret_form, "", meaning
    allow = webhook_name(source.provider, "allow")
    yield allow, "networks, separated by commas", "", "Networks that may send messages."
    own, one = source.rate_of_source, source.rate_of_address
    rates = (
        ("rate", own, "Authentic messages per second, after ten times as many at once."),
        ("address_rate", one, "Messages of one address per second, after ten times as many."),
    )
    for key, rate, meaning in rates:
        name = webhook_name(source.provider, key)
        yield name, "a whole number from 1 to 1000000", f"{rate.per_second:g}", meaning
    for plain in source.settings:
        is_readable = len(plain.pattern) <= MAX_PATTERN
        pattern = f"`{plain.pattern.replace('|', BAR)}`" if is_readable else "as its contract says"
        name = webhook_name(source.provider, plain.name)
        yield name, pattern, plain.default, plain.description


def _upstream_rows(upstream: Upstream) -> Iterator[Row]:
    own = partial(upstream_name, upstream.name)
    choices = "live, mock or workspace" if upstream.has_workspace else "live or mock"
    yield backend_name(upstream.name), choices, "", "Backend to use."
    yield own("base_url"), "an https URL", upstream.base_url or "", "Base URL."
    if upstream.tokens:
        yield own("token_url"), "an https URL", upstream.tokens[0].url, "URL of its tokens."
    for plain in upstream.settings:
        yield (
            own(plain.name),
            f"`{plain.pattern.replace('|', BAR)}`",
            plain.default or "",
            plain.description,
        )
    for rule in upstream.credentials:
        must_be = "a JSON key file" if rule.kind == "json" else "printable ASCII"
        need = "" if rule.is_required else " Optional." if not upstream.tokens else ""
        yield own(rule.name), must_be, "", f"Secret: {rule.description}{need}"


def _setting_row(setting: Setting) -> str:
    default = f"`{setting.default_text}`" if setting.default_text else ""
    return (
        f"| `{setting.key}` | `{setting.name.variable}` | {setting.rule} | {default} "
        f"| {setting.description} |\n"
    )
