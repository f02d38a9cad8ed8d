"""Finds `GATEWAY_*` variables that are not settings."""

from collections.abc import Iterable, Mapping
from typing import Final

from gateway.contract.upstream import Upstream
from gateway.contract.values.nearest import hint
from gateway.contract.webhook import WebhookSource
from gateway.settings.declared import SETTINGS
from gateway.settings.sources import PREFIX, TOML_VARIABLE
from gateway.settings.upstreams import upstream_variables
from gateway.settings.webhooks import source_variables

_TESTS: Final = (f"{PREFIX}TEST_", f"{PREFIX}TESTS_")


def unknown_variables(
    environ: Mapping[str, str],
    upstreams: Iterable[Upstream] = (),
    webhooks: Iterable[WebhookSource] = (),
) -> dict[str, str]:
    """Each `GATEWAY_*` variable that nothing reads, with a hint at a similar name or nothing."""
    known = {TOML_VARIABLE}
    for setting in SETTINGS.values():
        known.add(setting.name.variable)
        if setting.is_secret:
            known.add(setting.name.of_file().variable)
    for upstream in upstreams:
        known |= upstream_variables(upstream)
    for source in webhooks:
        known |= source_variables(source)
    unknown = sorted(
        name
        for name in environ
        if name.startswith(PREFIX) and name not in known and not name.startswith(_TESTS)
    )
    return {name: hint(name, known, "") for name in unknown}
