"""The client certificate that the connections to one upstream present (mutual TLS)."""

import ssl
from collections.abc import Mapping

from msgspec import Struct

from gateway.contract.credentials import NotACertificate, load_client_certificate
from gateway.contract.slots import setting_variable
from gateway.contract.upstream import Upstream
from gateway.errors import ConfigurationError


class ClientCertificate(Struct, frozen=True, kw_only=True):
    """A certificate and its key, in PEM. Its repr shows only the setting."""

    setting: str
    certificate: str
    key: str

    def __repr__(self) -> str:
        return f"ClientCertificate({self.setting})"

    def context(self) -> ssl.SSLContext:
        """TLS with the system's roots and this certificate. Raises `ConfigurationError`."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        try:
            load_client_certificate(context, self.certificate, self.key)
        except NotACertificate as error:
            raise ConfigurationError(f"{self.setting} and its key: {error}") from None
        return context


def client_certificate(
    upstream: Upstream, credentials: Mapping[str, str]
) -> ClientCertificate | None:
    """The certificate that is set for `upstream`, or None."""
    for slot in upstream.slots:
        if slot.kind == "mutual_tls" and slot.way_of(credentials):
            certificate, key = slot.ways[0]
            return ClientCertificate(
                setting=setting_variable(upstream.name, certificate),
                certificate=credentials[certificate],
                key=credentials[key],
            )
    return None
