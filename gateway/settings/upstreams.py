"""Reads the operator's settings for one upstream: addresses, credentials, and what it declares."""

import ssl
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from gateway.contract.credentials import (
    NotACertificate,
    NotAKeyFile,
    load_client_certificate,
    missing_for,
    read_key_file,
    usable_rule,
)
from gateway.contract.outbound import url_refusal
from gateway.contract.slots import CredentialSlot, setting_variable
from gateway.contract.upstream import CredentialRule, TokenRule, Upstream
from gateway.contract.values.schema import is_whole_match
from gateway.errors import ConfigurationError
from gateway.settings.sources import (
    Name,
    Secret,
    Sources,
    SourceValue,
    WrongSettings,
    backend_name,
    each_wrong,
    read_all,
    upstream_name,
)

# The URLs of an upstream and of its token endpoint. They are checked only here.

_EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on
_PRIVATE: Final = frozenset({"localhost", "local", "internal", "lan", "home", "test", "arpa"})
"""Last labels of names that nobody on the internet can look up."""


def base_url(sources: Sources, upstream: Upstream, *, allow_plain_http: bool) -> tuple[str, str]:
    """The base URL without trailing slash, and its origin.

    Raises `ConfigurationError` if it is missing, or if it is not safe to send secrets to it.
    """
    name = upstream_name(upstream.name, "base_url")
    given = sources.find(name)
    if given is None and upstream.base_url is None:
        raise ConfigurationError(f"{upstream.title} needs {name.variable}; set its base URL")
    url, origin = (given.value, given.origin) if given else (upstream.base_url, "contract")
    checked = checked_url(url, origin, allow_plain_http=allow_plain_http).rstrip("/")
    return _with_path(checked, origin, upstream), origin


def _with_path(url: str, origin: str, upstream: Upstream) -> str:
    """`url` with the path that the vendor's API has at this host.

    Raises `ConfigurationError` for another path, at which the API cannot be.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    for name, path in upstream.base_paths.items():
        if host != name and not host.endswith(f".{name}"):
            continue
        if parts.path not in {"", path}:
            should = f"{parts.scheme}://{parts.netloc}{path}"
            raise ConfigurationError(f"{origin}: {upstream.title} has no API there; set {should}")
        return f"{parts.scheme}://{parts.netloc}{path}"
    return url


def token_url(
    sources: Sources, upstream: Upstream, rule: TokenRule, base: str, *, allow_plain_http: bool
) -> tuple[str, str]:
    """The URL of the token endpoint, and its origin. Raises `ConfigurationError`."""
    given = sources.find(upstream_name(upstream.name, "token_url"))
    if given is not None:
        return checked_url(
            given.value, given.origin, allow_plain_http=allow_plain_http
        ), given.origin
    url = f"{base}{rule.url}" if rule.url.startswith("/") else rule.url
    return checked_url(url, "contract", allow_plain_http=allow_plain_http), "contract"


def checked_url(url: object, origin: str, *, allow_plain_http: bool) -> str:
    """`url`. Raises `ConfigurationError`, which names `origin`, if it is not safe."""
    problem = _problem(url, allow_plain_http=allow_plain_http)
    if problem is not None:
        raise ConfigurationError(f"{origin}: {problem}")
    return str(url)


def is_public(host: str, allowed_hosts: Iterable[str]) -> bool:
    """Whether a gateway that listens at `host` is meant for the internet.

    That is a global address. Of all addresses, it depends on the names by which it may be called: a
    container listens there, whoever reaches it.
    """
    if host not in _EVERYWHERE:
        return _is_global(host)
    return any(map(_is_global, allowed_hosts))


def _is_global(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_global
    except ValueError:
        labels = host.lower().rstrip(".").split(".")
        return len(labels) > 1 and labels[-1] not in _PRIVATE


def _problem(url: object, *, allow_plain_http: bool) -> str | None:
    if not isinstance(url, str) or not url.isprintable() or not url.isascii() or " " in url:
        return "must be a URL such as https://api.example.com"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not a URL; check host and port"
    if parts.scheme not in {"https", "http"} or not host:
        return "must start with https:// and name a host"
    if "@" in parts.netloc or parts.query or parts.fragment:
        return "must not contain credentials, a query or a fragment"
    return _unsafe(url, parts.scheme, host, allow_plain_http=allow_plain_http)


def _unsafe(url: str, scheme: str, host: str, *, allow_plain_http: bool) -> str | None:
    if why := url_refusal(url):
        return f"must be another address: {why}"
    if scheme == "http" and not allow_plain_http and not _is_loopback(host):
        return "must be https://, or set GATEWAY_ALLOW_PLAIN_HTTP=true"
    return None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


# Reads the credentials of one upstream, and checks that they are valid and complete.

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


# Reads the operator's settings for one upstream, as its contract declares them.

_TLS: Final = "https://"


def check_slots(
    upstream: Upstream,
    credentials: Credentials,
    settings: Mapping[str, str],
    origins: Mapping[str, str],
    *,
    base_url: str,
    allow_plain_http: bool,
) -> None:
    """Check what is set for the slots of a live upstream.

    `settings` and `origins` are the settings that are not secret. Raises `ConfigurationError` for
    credentials that fill no slot or contradict each other, for token endpoints that are missing or
    not safe, and for client certificates that cannot be used.
    """
    checks = {
        slot.name: partial(_check, upstream, slot, credentials, settings, origins, allow_plain_http)
        for slot in upstream.slots
    }
    read_all(checks)
    _check_certificates(upstream, credentials, base_url)


def _check(
    upstream: Upstream,
    slot: CredentialSlot,
    credentials: Credentials,
    settings: Mapping[str, str],
    origins: Mapping[str, str],
    allow_plain_http: bool,
) -> None:
    given = [name for name in slot.settings if name in credentials]
    if not given:
        return
    way = slot.way_of(given)
    if way is None:
        raise ConfigurationError(_incomplete(upstream, slot, given))
    if slot.kind == "oauth2" and slot.name not in way:
        _check_url(upstream, slot, settings, origins, allow_plain_http)
    elif len(given) > len(way):
        other = next(name for name in given if name not in way)
        both = f"{credentials[slot.name][1]} and {credentials[other][1]}"
        raise ConfigurationError(f"{both} are both set; keep the access token or the client")


def _incomplete(upstream: Upstream, slot: CredentialSlot, given: Collection[str]) -> str:
    """Names what the way needs that is nearest to complete."""
    begun = [way for way in slot.ways if any(name in given for name in way)]
    missing = min(([name for name in way if name not in given] for way in begun), key=len)
    variables = " and ".join(setting_variable(upstream.name, name) for name in missing)
    set_already = " and ".join(setting_variable(upstream.name, name) for name in given)
    return f"{upstream.title} needs {variables} with {set_already}; set both, or none"


def _check_url(
    upstream: Upstream,
    slot: CredentialSlot,
    settings: Mapping[str, str],
    origins: Mapping[str, str],
    allow_plain_http: bool,
) -> None:
    name = slot.token_settings[0]
    variable = setting_variable(upstream.name, name)
    url = settings.get(name)
    if not url:
        raise ConfigurationError(
            f"{upstream.title} needs {variable}, because its document names no URL for tokens; "
            "set it"
        )
    origin = origins.get(name, f"{variable} (from the document)")
    checked_url(url, origin, allow_plain_http=allow_plain_http)


def _check_certificates(upstream: Upstream, credentials: Credentials, base_url: str) -> None:
    found = [
        slot.ways[0]
        for slot in upstream.slots
        if slot.kind == "mutual_tls" and all(name in credentials for name in slot.settings)
    ]
    if not found:
        return
    origins = [credentials[name][1] for way in found for name in way]
    if len(found) > 1:
        which = f"{origins[0]} and {origins[2]}"
        raise ConfigurationError(f"{which} are two certificates for one upstream; keep one")
    if not base_url.startswith(_TLS):
        variable = setting_variable(upstream.name, "base_url")
        raise ConfigurationError(f"{origins[0]}: is used with TLS only; use https in {variable}")
    certificate, key = (credentials[name][0].reveal() for name in found[0])
    try:
        load_client_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate, key)
    except NotACertificate as error:
        raise ConfigurationError(f"{' and '.join(origins)}: {error}") from None


_NAMED: Final = ("backend", "base_url")

BackendChoice = Literal["live", "mock", "workspace"]


class UpstreamSettings(Struct, frozen=True, kw_only=True):
    """The settings of one upstream."""

    name: str
    backend: BackendChoice
    reason: str
    """Why this backend is used, for people."""
    base_url: str | None = None
    """The base URL without trailing slash. None if the backend is not live."""
    token_url: str | None = None
    """The URL of the token endpoint. None if the backend is not live or needs no tokens."""
    credentials: Mapping[str, Secret] = {}
    """The credentials. A mock gets only those that start with `mock_`, so it cannot leak others."""
    settings: Mapping[str, str] = {}
    """The settings that are not secret (`SettingRule`), by name."""
    problems: tuple[str, ...] = ()
    """The errors, each with its fix. With errors, the gateway does not start."""
    origins: Mapping[str, str] = {}
    """The origins of `backend`, the URLs, each credential and each setting."""

    @property
    def problem(self) -> str | None:
        """All of `problems` in one line, or None if there are none."""
        return WrongSettings(self.problems).detail if self.problems else None


def read_upstream(
    sources: Sources, upstream: Upstream, *, allow_plain_http: bool, is_exposed: bool = False
) -> UpstreamSettings:
    """The settings of `upstream`. Never raises: errors are in its `problem`.

    `is_exposed`: a mock answers only where `backend` selects it.
    """
    try:
        _refuse_unknown_keys(sources, upstream)
        override = _override(sources, upstream)
        if override is not None and override[0] != "live":
            return _substitute(sources, upstream, override[0], f"{override[1]} selects it", {})
        credentials = read_credentials(sources, upstream)
        if override is None and (reason := _why_not_live(upstream, credentials)):
            backend: BackendChoice = "workspace" if upstream.has_workspace else "mock"
            if is_exposed and backend == "mock":
                raise _unnamed_mock(upstream, credentials)
            return _substitute(sources, upstream, backend, reason, credentials)
        reason = f"{override[1]} selects it" if override else "its credentials are set"
        return _live(sources, upstream, credentials, reason, allow_plain_http)
    except ConfigurationError as error:
        return UpstreamSettings(
            name=upstream.name,
            backend="live",
            reason="it is misconfigured",
            problems=each_wrong(error),
            origins=_given_origins(sources, upstream),
        )


def upstream_variables(upstream: Upstream) -> frozenset[str]:
    """All variables of the settings of `upstream`."""
    secret = [upstream_name(upstream.name, rule.name) for rule in upstream.credentials]
    plain = [backend_name(upstream.name), *_plain_names(upstream).values()]
    return frozenset(
        {name.variable for name in (*plain, *secret)} | {name.of_file().variable for name in secret}
    )


def _live(
    sources: Sources,
    upstream: Upstream,
    credentials: Credentials,
    reason: str,
    allow_plain_http: bool,
) -> UpstreamSettings:
    rule = refuse_incomplete(upstream, credentials)
    url, url_origin = base_url(sources, upstream, allow_plain_http=allow_plain_http)
    addresses = {"base_url": url_origin}
    token_endpoint = None
    if rule is not None:
        token_endpoint, addresses["token_url"] = token_url(
            sources, upstream, rule, url, allow_plain_http=allow_plain_http
        )
    values, origins = _values(sources, upstream, is_live=True)
    check_slots(
        upstream, credentials, values, origins, base_url=url, allow_plain_http=allow_plain_http
    )
    return UpstreamSettings(
        name=upstream.name,
        backend="live",
        reason=reason,
        base_url=url,
        token_url=token_endpoint,
        credentials={key: secret for key, (secret, _) in credentials.items()},
        settings=values,
        origins=_origins(sources, upstream, credentials) | addresses | origins,
    )


def _substitute(
    sources: Sources,
    upstream: Upstream,
    backend: BackendChoice,
    reason: str,
    credentials: Credentials,
) -> UpstreamSettings:
    values, origins = _values(sources, upstream, is_live=False)
    return UpstreamSettings(
        name=upstream.name,
        backend=backend,
        reason=reason,
        credentials={key: secret for key, (secret, _) in credentials.items()},
        settings=values,
        origins=_origins(sources, upstream, credentials) | origins,
    )


def _origins(sources: Sources, upstream: Upstream, credentials: Credentials) -> dict[str, str]:
    override = sources.find(backend_name(upstream.name))
    return {key: origin for key, (_, origin) in credentials.items()} | (
        {"backend": override.origin} if override else {}
    )


def _override(sources: Sources, upstream: Upstream) -> tuple[BackendChoice, str] | None:
    given = sources.find(backend_name(upstream.name))
    match given:
        case None:
            return None
        case SourceValue(value="live" | "mock" as choice, origin=origin):
            return choice, origin
        case SourceValue(value="workspace", origin=origin) if upstream.has_workspace:
            return "workspace", origin
    choices = "live, mock or workspace" if upstream.has_workspace else "live or mock"
    raise ConfigurationError(f"{given.origin}: must be {choices}")


def _why_not_live(upstream: Upstream, credentials: Credentials) -> str | None:
    if not credentials:
        variable = backend_name(upstream.name).variable
        why = "no credentials are set" if upstream.credentials else "it is not set to live"
        return f"{why}; {variable}=live overrides this"
    return why_mocked(credentials)


def _unnamed_mock(upstream: Upstream, credentials: Credentials) -> ConfigurationError:
    variable = backend_name(upstream.name).variable
    named = ", ".join(upstream_name(upstream.name, r.name).variable for r in upstream.credentials)
    why = why_mocked(credentials) or (f"none of {named} is set" if named else "it is not live")
    return ConfigurationError(
        f"{why}, and in production and on a public address no mock answers unasked; set its "
        f"credentials, {variable}=live, or {variable}=mock if the mock is meant"
    )


def _values(
    sources: Sources, upstream: Upstream, *, is_live: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """The settings that are not secret, and the origins of those that are set."""
    values: dict[str, str] = {}
    origins: dict[str, str] = {}
    missing: list[str] = []
    for rule in upstream.settings:
        name = upstream_name(upstream.name, rule.name)
        given = sources.find(name)
        if given is not None:
            if not isinstance(given.value, str) or not is_whole_match(rule.pattern, given.value):
                raise ConfigurationError(f"{given.origin}: must match {rule.pattern}")
            values[rule.name], origins[rule.name] = given.value, given.origin
        elif rule.default is not None:
            values[rule.name] = rule.default
        elif is_live:
            missing.append(name.variable)
        else:
            values[rule.name] = rule.mock
    if missing:
        them = "it" if len(missing) == 1 else "them"
        raise ConfigurationError(
            f"{upstream.title} needs {' and '.join(missing)}; set {them}: see `gateway config`"
        )
    return values, origins


def _given_origins(sources: Sources, upstream: Upstream) -> dict[str, str]:
    """The origins of all settings of `upstream` that are set, valid or not."""
    names = {"backend": backend_name(upstream.name), **_plain_names(upstream)}
    for rule in upstream.credentials:
        name = upstream_name(upstream.name, rule.name)
        names[rule.name] = name if sources.find(name) else name.of_file()
    found = {key: sources.find(name) for key, name in names.items()}
    return {key: given.origin for key, given in found.items() if given is not None}


def _plain_names(upstream: Upstream) -> dict[str, Name]:
    """The names of the settings that are not secret, except the backend."""
    tokens = ("token_url",) if upstream.tokens else ()
    keys = ("base_url", *tokens, *(rule.name for rule in upstream.settings))
    return {key: upstream_name(upstream.name, key) for key in keys}


def _refuse_unknown_keys(sources: Sources, upstream: Upstream) -> None:
    credentials = {rule.name for rule in upstream.credentials}
    known = {*_NAMED, *_plain_names(upstream), *credentials}
    known |= {f"{name}_file" for name in credentials}
    otherwise = f"known are {', '.join(sorted(known))}"
    sources.refuse_unknown(("upstreams", upstream.name), known, "a setting", otherwise)
