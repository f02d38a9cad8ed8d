"""Finds `GATEWAY_*` variables that are not settings."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gateway.contract.upstream import Upstream
from gateway.contract.values.nearest import nearest
from gateway.contract.webhook import WebhookSource
from gateway.errors import ConfigurationError
from gateway.failpoints import FAILPOINT_VARIABLES
from gateway.settings.declared import SETTINGS
from gateway.settings.sources import PREFIX, TOML_VARIABLE, upstream_name
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
    known = _own_variables()
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


def refuse_shared(upstreams: Iterable[Upstream]) -> None:
    """Raise `ConfigurationError` if two settings have the same variable.

    Otherwise one secret would be sent where another belongs: the variable of the credential `key`
    of an upstream `bootstrap` is that of the administrator's key.
    """
    owners = dict.fromkeys(_own_variables(), "the gateway itself")
    for upstream in upstreams:
        for name in _variables_of(upstream):
            if owners.get(name) is not None:
                raise ConfigurationError(
                    f"{name} would be a setting of {upstream.title} and of {owners[name]};"
                    " rename one of the two connectors"
                )
            owners[name] = upstream.title


def _own_variables() -> set[str]:
    known = {TOML_VARIABLE, *FAILPOINT_VARIABLES}
    for setting in SETTINGS.values():
        known.add(setting.name.variable)
        if setting.is_secret:
            known.add(setting.name.of_file().variable)
    return known


def _variables_of(upstream: Upstream) -> Iterator[str]:
    """The variables of `upstream`. One that occurs twice is returned twice."""
    secret = {upstream_name(upstream.name, rule.name).variable for rule in upstream.credentials}
    files = {f"{name}_FILE" for name in secret}
    yield from (secret & files)
    yield from upstream_variables(upstream)


def _fix(name: str, known: Iterable[str]) -> str:
    # With the prefix, all names would be similar.
    found = nearest(name.removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known))
    return _OTHERWISE if found is None else f"did you mean {PREFIX}{found}?"
