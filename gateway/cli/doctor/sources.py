"""Examines the settings of the sources of webhooks."""

from collections.abc import Iterator

from gateway.catalogue import Catalogue
from gateway.cli.doctor.diagnosis import Diagnosis, note, parted, refused, sound, wrong
from gateway.contract.webhook import WebhookSource
from gateway.errors import OperatorError
from gateway.settings import Settings, SourceSettings
from gateway.signatures.secret_rules import MIN_KEY_BYTES


def examine_sources(settings: Settings, catalogue: Catalogue) -> Iterator[Diagnosis]:
    """Which profiles are open, and what is wrong or weak in their settings."""
    try:
        settings.for_webhooks(catalogue.sources)
        settings.proxies()
    except OperatorError as error:
        yield refused("webhooks", error)
    for source in catalogue.sources:
        found = settings.for_webhook(source)
        part = f"webhooks of {source.provider}"
        if found.problem is not None:
            yield wrong(part, *parted(found.problem))
        elif found.secrets:
            yield sound(part, f"open: {', '.join(found.secrets)}")
            yield from _short_secrets(part, source, found)
        else:
            yield note(part, "no secret is set", "see `gateway config` for the setting of each")


def _short_secrets(part: str, source: WebhookSource, found: SourceSettings) -> Iterator[Diagnosis]:
    for profile in source.profiles:
        keys = [
            profile.authentication.key_of(secret.reveal())
            for secret in found.secrets.get(profile.name, ())
        ]
        if any(len(key) < MIN_KEY_BYTES for key in keys):
            what = f"a secret of {profile.name} has fewer than {MIN_KEY_BYTES} bytes"
            yield note(part, what, "use a longer one, if the sender lets you choose it")
