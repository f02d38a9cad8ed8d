"""The certificate of a client for mutual TLS (RFC 8446 §4.4.2), as PEM text (RFC 7468)."""

import ssl
import tempfile


class NotACertificate(ValueError):
    """The texts are not a certificate and its key. The message never repeats any of them."""


def load_client_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Present the certificate on the connections of `context`. Raises `NotACertificate`."""
    try:
        # The library reads files only. This one can be read by this user only, and is removed.
        with tempfile.NamedTemporaryFile(mode="w", prefix="gateway-", encoding="utf-8") as file:
            file.write(f"{certificate}\n{key}\n")
            file.flush()
            context.load_cert_chain(file.name, password=_none)
    except ssl.SSLError as error:
        raise NotACertificate(_reason(error)) from None
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); make the folder for temporary files writable"
        raise NotACertificate(reason) from None


def _none() -> str:
    """The password of the key. Without this, the library asks for it at the terminal."""
    return ""


def _reason(error: ssl.SSLError) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "do not belong together; use the key that the certificate was issued for"
    return "are not a certificate and its key in PEM without a password; convert them"
