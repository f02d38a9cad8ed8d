"""Finds `GATEWAY_*` variables that are not settings."""

from collections.abc import Iterable, Mapping
from typing import Final

from gateway.contract.upstream import Upstream
from gateway.contract.values.nearest import nearest
from gateway.contract.webhook import WebhookSource
from gateway.failpoints import FAILPOINT_VARIABLES
from gateway.settings.declared import SETTINGS
from gateway.settings.sources import PREFIX, TOML_VARIABLE
from gateway.settings.upstreams import upstream_variables
from gateway.settings.webhooks import source_variables

_TESTS: Final = (f"{PREFIX}TEST_", f"{PREFIX}TESTS_")
_OTHERWISE: Final = "unset it, or see `gateway config` for all settings"


def unknown_variables(
    environ: Mapping[str, str],
    upstreams: Iterable[Upstream] = (),
    webhooks: Iterable[WebhookSource] = (),
) -> dict[str, str]:
    """Each `GATEWAY_*` variable that nothing reads, with a fix, which names a similar variable."""
    known = {TOML_VARIABLE, *FAILPOINT_VARIABLES}
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
    return {name: _fix(name, known) for name in unknown}


def _fix(name: str, known: Iterable[str]) -> str:
    # With the prefix, all names would be similar.
    found = nearest(name.removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known))
    return _OTHERWISE if found is None else f"did you mean {PREFIX}{found}?"
