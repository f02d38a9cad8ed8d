"""All settings as one frozen record."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gateway.contract.upstream import Upstream
from gateway.contract.webhook import WebhookSource
from gateway.settings.addresses import is_public
from gateway.settings.bounds import LimitFields
from gateway.settings.credentials import log_secrets
from gateway.settings.known import refuse_shared
from gateway.settings.rows import SettingRow, own_rows, upstream_rows, webhook_rows
from gateway.settings.secret import Secret
from gateway.settings.sources import NOT_DECLARED, Sources
from gateway.settings.upstreams import UpstreamSettings, read_upstream
from gateway.settings.webhooks import (
    Network,
    SourceSettings,
    read_networks,
    read_source,
)

_NO_SOURCES: Final = Sources(variables={}, toml={}, toml_path=None, flags={})


class Settings(LimitFields, frozen=True, kw_only=True):
    """All settings, and the sources of the settings that contracts declare."""

    sources: Sources = _NO_SOURCES
    origins: Mapping[str, str] = {}
    """The origin of each setting that does not have its default."""

    def for_upstream(self, upstream: Upstream) -> UpstreamSettings:
        """The settings of `upstream`. Never raises: errors are in its `problem`."""
        return read_upstream(
            self.sources,
            upstream,
            allow_plain_http=self.allow_plain_http,
            is_exposed=self.environment == "production" or is_public(self.host, self.allowed_hosts),
        )

    def for_upstreams(self, upstreams: Iterable[Upstream]) -> dict[str, UpstreamSettings]:
        """The settings of each upstream, by name.

        Raises `ConfigurationError` if `gateway.toml` names an upstream that does not exist.
        """
        upstreams = tuple(upstreams)
        refuse_shared(upstreams)
        found = {upstream.name: self.for_upstream(upstream) for upstream in upstreams}
        self.sources.refuse_unknown(("upstreams",), found, "an upstream", NOT_DECLARED)
        return found

    def for_webhook(self, source: WebhookSource) -> SourceSettings:
        """The settings of `source`. Never raises: errors are in its `problem`."""
        return read_source(self.sources, source)

    def for_webhooks(self, webhooks: Iterable[WebhookSource]) -> dict[str, SourceSettings]:
        """The settings of each source, by provider.

        Raises `ConfigurationError` if `gateway.toml` names a source that does not exist.
        """
        found = {source.provider: self.for_webhook(source) for source in webhooks}
        self.sources.refuse_unknown(("webhooks",), found, "a source of webhooks", NOT_DECLARED)
        return found

    def proxies(self) -> tuple[Network, ...]:
        """The networks of `trusted_proxies`. Raises `ConfigurationError`."""
        origin = self.origins.get("trusted_proxies", "trusted_proxies")
        return read_networks(self.trusted_proxies, origin)

    def endpoint_networks(self) -> tuple[Network, ...]:
        """The networks of `endpoints_allow`. Raises `ConfigurationError`."""
        origin = self.origins.get("endpoints_allow", "endpoints_allow")
        return read_networks(self.endpoints_allow, origin)

    def describe(
        self, upstreams: Iterable[Upstream] = (), webhooks: Iterable[WebhookSource] = ()
    ) -> list[SettingRow]:
        """All settings with their current values and origins. Secrets are masked."""
        rows = list(own_rows(self, self.origins))
        for upstream in upstreams:
            rows.extend(upstream_rows(upstream, self.for_upstream(upstream)))
        for source in webhooks:
            rows.extend(webhook_rows(source, self.for_webhook(source)))
        return rows

    def secrets(
        self, upstreams: Iterable[Upstream] = (), webhooks: Iterable[WebhookSource] = ()
    ) -> tuple[str, ...]:
        """The texts that logs must not contain."""
        credentials = (s for u in upstreams for s in self.for_upstream(u).credentials.values())
        known = (*self._own_secrets(), *credentials)
        of_webhooks = (text for source in webhooks for text in self._webhook_secrets(source))
        return (*(text for secret in known for text in log_secrets(secret)), *of_webhooks)

    def _webhook_secrets(self, source: WebhookSource) -> Iterator[str]:
        """The secrets of `source`, in every form in which a request may contain them."""
        found = self.for_webhook(source)
        for profile in source.profiles:
            for secret in found.secrets.get(profile.name, ()):
                yield from profile.authentication.spellings(secret.reveal())
        for secrets in found.challenge_secrets.values():
            yield from (secret.reveal() for secret in secrets)

    def _own_secrets(self) -> Iterator[Secret]:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if name == "secrets_key" and value is not None:
                parts = value.reveal().split(",")
                yield from (Secret(each.strip()) for each in parts if each.strip())
            elif isinstance(value, Secret):
                yield value
