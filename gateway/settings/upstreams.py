"""What the operator says of one upstream, read against the credentials its contract asks for."""

from collections.abc import Mapping
from ipaddress import ip_address
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from gateway.contract.upstream import CredentialRule, Upstream
from gateway.errors import ConfigurationError
from gateway.settings.nearest import nearest
from gateway.settings.secret import Secret
from gateway.settings.sources import Given, Sources, backend_name, upstream_name

MOCK_PREFIX: Final = "mock_"
_NAMED: Final = frozenset({"backend", "base_url"})

BackendChoice = Literal["live", "mock"]
Credentials = Mapping[str, tuple[Secret, str]]
"""By name: the secret and where it came from."""


class UpstreamSettings(Struct, frozen=True, kw_only=True):
    """How one upstream is reached."""

    name: str
    backend: BackendChoice
    reason: str
    """Why it is this backend, for people."""
    base_url: str | None = None
    """Without trailing slash; None for a mock."""
    credentials: Mapping[str, Secret] = {}
    """For a mock only those that start with `mock_`: it cannot leak what it does not hold."""
    problem: str | None = None
    """What is misconfigured and how to mend it. The gateway does not serve with one."""
    origins: Mapping[str, str] = {}
    """Where `backend`, `base_url` and each credential came from."""


def read_upstream(
    sources: Sources, upstream: Upstream, *, allow_plain_http: bool
) -> UpstreamSettings:
    """The settings of `upstream`. Never raises: what is wrong is its `problem`."""
    name = upstream.name
    try:
        _refuse_unknown_keys(sources, upstream)
        override = _override(sources, name)
        if override is not None and override[0] == "mock":
            return _mock(name, f"{override[1]} says so", {"backend": override[1]})
        credentials = _credentials(sources, upstream)
        mocked = _why_mock(upstream, credentials) if override is None else None
        if mocked is not None:
            return _mock(
                name,
                mocked,
                {key: origin for key, (_, origin) in credentials.items()},
                {key: secret for key, (secret, _) in credentials.items()},
            )
        _refuse_unfit(upstream, credentials)
        base_url, origin = _base_url(sources, upstream, allow_plain_http=allow_plain_http)
    except ConfigurationError as error:
        return UpstreamSettings(
            name=name, backend="live", reason="it is misconfigured", problem=error.detail
        )
    return UpstreamSettings(
        name=name,
        backend="live",
        reason=f"{override[1]} says so" if override else "its credentials are set",
        base_url=base_url,
        credentials={key: secret for key, (secret, _) in credentials.items()},
        origins={key: source for key, (_, source) in credentials.items()}
        | {"base_url": origin}
        | ({"backend": override[1]} if override else {}),
    )


def upstream_variables(upstream: Upstream) -> frozenset[str]:
    """Every variable that says something of `upstream`."""
    names = [upstream_name(upstream.name, rule.name) for rule in upstream.credentials]
    return frozenset(
        {backend_name(upstream.name).variable, upstream_name(upstream.name, "base_url").variable}
        | {name.variable for name in names}
        | {name.of_file().variable for name in names}
    )


def _mock(
    name: str,
    reason: str,
    origins: Mapping[str, str],
    credentials: Mapping[str, Secret] = MappingProxyType({}),
) -> UpstreamSettings:
    return UpstreamSettings(
        name=name, backend="mock", reason=reason, origins=origins, credentials=credentials
    )


def _override(sources: Sources, name: str) -> tuple[BackendChoice, str] | None:
    given = sources.find(backend_name(name))
    match given:
        case None:
            return None
        case Given(value="live" | "mock" as choice, origin=origin):
            return choice, origin
    raise ConfigurationError(f"{given.origin}: must be live or mock")


def _credentials(sources: Sources, upstream: Upstream) -> Credentials:
    found = (
        (rule.name, sources.find_secret(upstream_name(upstream.name, rule.name)))
        for rule in upstream.credentials
    )
    given = {name: secret for name, secret in found if secret is not None}
    for secret, origin in given.values():
        if not secret.reveal().isprintable() or not secret.reveal().isascii():
            raise ConfigurationError(
                f"{origin}: holds characters that no header can carry; use visible ASCII"
            )
    return given


def _why_mock(upstream: Upstream, credentials: Credentials) -> str | None:
    if not credentials:
        variable = backend_name(upstream.name).variable
        return f"no credentials are set; {variable}=live overrules this"
    mocked = [
        origin for secret, origin in credentials.values() if secret.reveal().startswith(MOCK_PREFIX)
    ]
    if not mocked:
        return None
    if len(mocked) < len(credentials):
        real = next(origin for _, origin in credentials.values() if origin not in mocked)
        raise ConfigurationError(
            f"{mocked[0]} starts with {MOCK_PREFIX} and {real} does not; make them alike"
        )
    return f"{mocked[0]} starts with {MOCK_PREFIX}"


def _refuse_unfit(upstream: Upstream, credentials: Credentials) -> None:
    missing = [_variable(upstream, rule) for rule in _required(upstream, credentials)]
    if missing:
        raise ConfigurationError(
            f"{upstream.title} needs {' and '.join(missing)}; set it, or unset every credential "
            "to use the mock"
        )


def _required(upstream: Upstream, given: Credentials) -> list[CredentialRule]:
    return [rule for rule in upstream.credentials if rule.is_required and rule.name not in given]


def _variable(upstream: Upstream, rule: CredentialRule) -> str:
    return upstream_name(upstream.name, rule.name).variable


def _base_url(sources: Sources, upstream: Upstream, *, allow_plain_http: bool) -> tuple[str, str]:
    name = upstream_name(upstream.name, "base_url")
    given = sources.find(name)
    if given is None and upstream.base_url is None:
        raise ConfigurationError(f"{upstream.title} needs {name.variable}; set its base URL")
    url, origin = (given.value, given.origin) if given else (upstream.base_url, "contract")
    problem = _url_problem(url, allow_plain_http=allow_plain_http)
    if problem is not None:
        raise ConfigurationError(f"{origin}: {problem}")
    return str(url).rstrip("/"), origin


def _url_problem(url: object, *, allow_plain_http: bool) -> str | None:
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
        return "must not hold credentials, a query or a fragment"
    if parts.scheme == "http" and not allow_plain_http and not _is_loopback(host):
        return "must be https://, or set GATEWAY_ALLOW_PLAIN_HTTP=true"
    return None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse_unknown_keys(sources: Sources, upstream: Upstream) -> None:
    credentials = {rule.name for rule in upstream.credentials}
    known = _NAMED | credentials | {f"{name}_file" for name in credentials}
    for key in sources.toml.get("upstreams", {}).get(upstream.name, {}):
        if key not in known:
            hint = nearest(key, known) or f"; known are {', '.join(sorted(known))}"
            raise ConfigurationError(
                f"{sources.toml_path}: upstreams.{upstream.name}.{key} is not a setting{hint}"
            )
