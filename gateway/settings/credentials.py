"""Reads the credentials of one upstream, and checks that they are valid and complete."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Final
from urllib.parse import unquote, urlsplit

from gateway.contract.credentials import NotAKeyFile, missing_for, read_key_file, usable_rule
from gateway.contract.upstream import CredentialRule, TokenRule, Upstream
from gateway.errors import ConfigurationError
from gateway.settings.gathering import read_all
from gateway.settings.secret import Secret
from gateway.settings.sources import Sources, backend_name, upstream_name

MOCK_PREFIX: Final = "mock_"
_PEM_LINE: Final = 40
"""Longer lines of PEM are data: the labels that begin and end it are shorter."""

Credentials = Mapping[str, tuple[Secret, str]]
"""The secret and its origin, by name."""


def read_credentials(sources: Sources, upstream: Upstream) -> Credentials:
    """The credentials that are set. Raises `ConfigurationError` with all that are invalid."""
    reads = {rule.name: partial(_read, sources, upstream, rule) for rule in upstream.credentials}
    return {name: given for name, given in read_all(reads).items() if given is not None}


def _read(sources: Sources, upstream: Upstream, rule: CredentialRule) -> tuple[Secret, str] | None:
    found = sources.find_secret(upstream_name(upstream.name, rule.name))
    if found is not None:
        _refuse_invalid(rule, *found)
    return found


def why_mocked(credentials: Credentials) -> str | None:
    """Why these credentials select the mock, or None.

    Raises `ConfigurationError` if only some of them start with `mock_`.
    """
    mocked = [origin for secret, origin in credentials.values() if _is_mock(secret)]
    if not mocked:
        return None
    if len(mocked) < len(credentials):
        real = next(origin for _, origin in credentials.values() if origin not in mocked)
        raise ConfigurationError(
            f"{mocked[0]} starts with {MOCK_PREFIX} and {real} does not; "
            f"use {MOCK_PREFIX} for all credentials or for none"
        )
    return f"{mocked[0]} starts with {MOCK_PREFIX}"


def refuse_incomplete(upstream: Upstream, given: Collection[str]) -> TokenRule | None:
    """The rule for fetching a token, if the upstream needs one.

    Raises `ConfigurationError`, which names the missing credentials.
    """
    needed = [r.name for r in upstream.credentials if r.is_required and r.name not in given]
    rule = usable_rule(upstream.tokens, given)
    is_complete = rule or not upstream.tokens
    missing = [needed] if is_complete else _missing_for_tokens(upstream.tokens, needed, given)
    if any(missing):
        variable = backend_name(upstream.name).variable
        back = "unset every credential to use the mock" if given else f"{variable}=mock"
        choices = ", or ".join(_listed(upstream, names) for names in missing)
        them = "it" if sum(map(len, missing)) == 1 else "them"
        raise ConfigurationError(f"{upstream.title} needs {choices}; set {them}, or {back}")
    return rule


def log_secrets(secret: Secret) -> Iterable[str]:
    """The texts that reveal `secret` in a log: the secret, and secrets that it contains."""
    yield secret.reveal()
    yield from _passwords(secret.reveal())
    yield from _pem_lines(secret.reveal())
    try:
        yield read_key_file(secret.reveal()).private_key
    except NotAKeyFile:
        return


def _passwords(text: str) -> Iterable[str]:
    """The password in a URL, encoded and decoded."""
    try:
        password = urlsplit(text).password
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)


def _pem_lines(text: str) -> Iterable[str]:
    """The lines of a private key in PEM. A log may contain one of them alone."""
    if "PRIVATE KEY" in text:
        yield from (line for line in text.splitlines() if len(line) > _PEM_LINE)


def _missing_for_tokens(
    rules: Iterable[TokenRule], needed: list[str], given: Collection[str]
) -> list[list[str]]:
    """The missing credentials: of the rule with the fewest, if any is set, else of each rule."""
    missing = [(missing_for(rule, given), rule) for rule in rules]
    begun = [names for names, rule in missing if len(names) < len(missing_for(rule, ()))]
    shortest = sorted(begun, key=len)[:1]
    found = shortest or [names for names, _ in missing]
    return [list(dict.fromkeys((*needed, *names))) for names in found]


def _listed(upstream: Upstream, names: Iterable[str]) -> str:
    return " and ".join(upstream_name(upstream.name, name).variable for name in names)


def _is_mock(secret: Secret) -> bool:
    return secret.reveal().startswith(MOCK_PREFIX)


def _refuse_invalid(rule: CredentialRule, secret: Secret, origin: str) -> None:
    text = secret.reveal()
    for beginning, fix in rule.mistaken.items():
        if text.startswith(beginning):
            raise ConfigurationError(f"{origin}: begins with {beginning}; {fix}")
    if rule.kind == "json" and not _is_mock(secret):
        _refuse_key_file(text, origin)
    elif rule.kind == "pem" and not _is_mock(secret):
        if "-----BEGIN " not in text or not text.isascii():
            raise ConfigurationError(f"{origin}: is not PEM; give a file with -----BEGIN")
    elif not text.isprintable() or not text.isascii():
        raise ConfigurationError(
            f"{origin}: contains characters that a header cannot contain; use printable ASCII"
        )


def _refuse_key_file(text: str, origin: str) -> None:
    try:
        key_file = read_key_file(text)
    except NotAKeyFile as error:
        raise ConfigurationError(
            f"{origin}: {error}; use the JSON file as it was downloaded"
        ) from None
    if not _is_rsa_key(key_file.private_key):
        raise ConfigurationError(
            f"{origin}: its private_key is not an RSA key in PEM form; "
            "use the JSON file as it was downloaded"
        )


def _is_rsa_key(pem: str) -> bool:
    # The import takes a tenth of a second, and only key files need it.
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - see above
        load_pem_private_key,
    )

    try:
        # The check that its numbers are primes takes long, and the first signature shows an error.
        key = load_pem_private_key(pem.encode(), password=None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
    return isinstance(key, rsa.RSAPrivateKey)
