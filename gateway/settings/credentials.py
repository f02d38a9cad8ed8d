"""The credentials of one upstream: read, checked for what they are, and whether they are enough."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Final
from urllib.parse import unquote, urlsplit

from gateway.contract.credentials.grants import missing_for, usable_rule
from gateway.contract.credentials.keyfile import NotAKeyFile, read_key_file
from gateway.contract.upstream import CredentialRule, TokenRule, Upstream
from gateway.errors import ConfigurationError
from gateway.settings.gathering import read_all
from gateway.settings.secret import Secret
from gateway.settings.sources import Sources, backend_name, upstream_name

MOCK_PREFIX: Final = "mock_"

Credentials = Mapping[str, tuple[Secret, str]]
"""By name: the secret and where it came from."""


def read_credentials(sources: Sources, upstream: Upstream) -> Credentials:
    """What is given. Raises `ConfigurationError` for all that cannot be used."""
    reads = {rule.name: partial(_read, sources, upstream, rule) for rule in upstream.credentials}
    return {name: given for name, given in read_all(reads).items() if given is not None}


def _read(sources: Sources, upstream: Upstream, rule: CredentialRule) -> tuple[Secret, str] | None:
    found = sources.find_secret(upstream_name(upstream.name, rule.name))
    if found is not None:
        _refuse_invalid(rule, *found)
    return found


def why_mocked(credentials: Credentials) -> str | None:
    """Why these credentials mean a mock, or None. Raises `ConfigurationError` for a mixture."""
    mocked = [origin for secret, origin in credentials.values() if _is_mock(secret)]
    if not mocked:
        return None
    if len(mocked) < len(credentials):
        real = next(origin for _, origin in credentials.values() if origin not in mocked)
        raise ConfigurationError(
            f"{mocked[0]} starts with {MOCK_PREFIX} and {real} does not; make them alike"
        )
    return f"{mocked[0]} starts with {MOCK_PREFIX}"


def refuse_incomplete(upstream: Upstream, given: Collection[str]) -> TokenRule | None:
    """The rule by which a token is got, if the upstream needs one.

    Raises `ConfigurationError` that names what is missing.
    """
    needed = [r.name for r in upstream.credentials if r.is_required and r.name not in given]
    rule = usable_rule(upstream.tokens, given)
    ways = [needed] if rule or not upstream.tokens else _ways(upstream.tokens, needed, given)
    if any(ways):
        variable = backend_name(upstream.name).variable
        back = "unset every credential to use the mock" if given else f"{variable}=mock"
        missing = ", or ".join(_listed(upstream, way) for way in ways)
        them = "it" if sum(map(len, ways)) == 1 else "them"
        raise ConfigurationError(f"{upstream.title} needs {missing}; set {them}, or {back}")
    return rule


def log_secrets(secret: Secret) -> Iterable[str]:
    """The texts by which `secret` could be recognised in a log."""
    yield secret.reveal()
    yield from _passwords(secret.reveal())
    try:
        yield read_key_file(secret.reveal()).private_key
    except NotAKeyFile:
        return


def _passwords(text: str) -> Iterable[str]:
    """The password in a URL, as it is written there and as it is."""
    try:
        password = urlsplit(text).password
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)


def _ways(rules: Iterable[TokenRule], needed: list[str], given: Collection[str]) -> list[list[str]]:
    """What would complete each rule that is begun, else each: the shortest alone when one leads."""
    ways = [(missing_for(rule, given), rule) for rule in rules]
    begun = [missing for missing, rule in ways if len(missing) < len(missing_for(rule, ()))]
    shortest = sorted(begun, key=len)[:1]
    found = shortest or [missing for missing, _ in ways]
    return [list(dict.fromkeys((*needed, *missing))) for missing in found]


def _listed(upstream: Upstream, names: Iterable[str]) -> str:
    return " and ".join(upstream_name(upstream.name, name).variable for name in names)


def _is_mock(secret: Secret) -> bool:
    return secret.reveal().startswith(MOCK_PREFIX)


def _refuse_invalid(rule: CredentialRule, secret: Secret, origin: str) -> None:
    text = secret.reveal()
    if rule.kind == "json" and not _is_mock(secret):
        _refuse_key_file(text, origin)
    elif not text.isprintable() or not text.isascii():
        raise ConfigurationError(
            f"{origin}: holds characters that no header can carry; use visible ASCII"
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
            f"{origin}: its private_key is no RSA key in PEM form; "
            "use the JSON file as it was downloaded"
        )


def _is_rsa_key(pem: str) -> bool:
    # A tenth of a second that only those pay who have such a key.
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - see above
        load_pem_private_key,
    )

    try:
        # Whether its numbers are primes takes long, and the first signature shows it.
        key = load_pem_private_key(pem.encode(), password=None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
    return isinstance(key, rsa.RSAPrivateKey)
