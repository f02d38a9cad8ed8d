"""All settings as one frozen record."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gateway.contract.upstream import Upstream
from gateway.contract.webhook import WebhookSource
from gateway.settings.credentials import log_secrets
from gateway.settings.limits import LimitFields
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

_NOWHERE: Final = Sources(variables={}, toml={}, toml_path=None, flags={})


class Settings(LimitFields, frozen=True, kw_only=True):
    """Every setting, and what was said of upstreams, which only contracts can make sense of."""

    sources: Sources = _NOWHERE
    origins: Mapping[str, str] = {}
    """Where each setting that is not at its default came from."""

    def for_upstream(self, upstream: Upstream) -> UpstreamSettings:
        """How `upstream` is reached. Never raises: what is wrong is its `problem`."""
        return read_upstream(self.sources, upstream, allow_plain_http=self.allow_plain_http)

    def for_upstreams(self, upstreams: Iterable[Upstream]) -> dict[str, UpstreamSettings]:
        """How each upstream is reached, by name.

        Raises `ConfigurationError` when `gateway.toml` speaks of an upstream that does not exist.
        """
        found = {upstream.name: self.for_upstream(upstream) for upstream in upstreams}
        self.sources.refuse_unknown(("upstreams",), found, "an upstream", NOT_DECLARED)
        return found

    def for_webhook(self, source: WebhookSource) -> SourceSettings:
        """Who may send as `source`. Never raises: what is wrong is its `problem`."""
        return read_source(self.sources, source)

    def for_webhooks(self, webhooks: Iterable[WebhookSource]) -> dict[str, SourceSettings]:
        """Who may send, by source.

        Raises `ConfigurationError` when `gateway.toml` speaks of a source that does not exist.
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
        """Every setting as it is now and where it came from, secrets masked."""
        rows = list(own_rows(self, self.origins))
        for upstream in upstreams:
            rows.extend(upstream_rows(upstream, self.for_upstream(upstream)))
        for source in webhooks:
            rows.extend(webhook_rows(source, self.for_webhook(source)))
        return rows

    def secrets(
        self, upstreams: Iterable[Upstream] = (), webhooks: Iterable[WebhookSource] = ()
    ) -> tuple[str, ...]:
        """The texts that no log may hold."""
        own = (
            self.bootstrap_key,
            self.key,
            self.backup_passphrase,
            self.database_url,
            self.workspace_url,
            *self._secrets_keys(),
        )
        theirs = (s for u in upstreams for s in self.for_upstream(u).credentials.values())
        known = (secret for secret in (*own, *theirs) if secret is not None)
        shared = (text for source in webhooks for text in self._shared_with(source))
        return (*(text for secret in known for text in log_secrets(secret)), *shared)

    def _shared_with(self, source: WebhookSource) -> Iterator[str]:
        """The secrets that senders have too, in every spelling that a request may give them."""
        found = self.for_webhook(source).secrets
        for profile in source.profiles:
            for secret in found.get(profile.name, ()):
                yield from profile.proof.spellings(secret.reveal())

    def _secrets_keys(self) -> list[Secret]:
        text = self.secrets_key.reveal() if self.secrets_key is not None else ""
        return [Secret(each.strip()) for each in text.split(",") if each.strip()]
