"""The sources of settings: environment, `gateway.toml`, flags; flags win. Secrets in them."""

import hmac
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from msgspec import Struct

from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError, OperatorError

# A text that must not be shown.

MASK: Final = "***"


class Secret:
    """A text that is masked when it is printed or formatted, and is compared in constant time.

    It cannot be pickled or encoded as JSON by accident. Only `reveal` returns the text, so a search
    for this name finds every use.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself. Only for code that sends, checks or digests it."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(
            self._text.encode(), other._text.encode()
        )

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled or copied")


# Reads several settings, and reports all errors together.

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class WrongSettings(ConfigurationError):
    """Several settings are wrong."""

    def __init__(self, wrong: Sequence[str]) -> None:
        super().__init__(_together(wrong))
        self.wrong = tuple(wrong)
        """For each setting the finding and the fix, separated by `; `."""


def each_wrong(error: OperatorError) -> tuple[str, ...]:
    """The single errors of `error`."""
    return error.wrong if isinstance(error, WrongSettings) else (error.detail,)


def read_all(reads: Mapping[_K, Callable[[], _V]]) -> dict[_K, _V]:
    """The results of all `reads`. Raises `WrongSettings` with the errors of all that fail."""
    found: dict[_K, _V] = {}
    wrong: list[str] = []
    for key, read in reads.items():
        try:
            found[key] = read()
        except ConfigurationError as error:
            wrong.append(error.detail)
    if wrong:
        raise WrongSettings(wrong)
    return found


def _together(wrong: Sequence[str]) -> str:
    """All findings, then all fixes, in the form `finding; fix` of a single error."""
    if len(wrong) == 1:
        return wrong[0]
    parts = [each.rpartition("; ") for each in wrong]
    findings = [problem or fix for problem, _, fix in parts]
    fixes = dict.fromkeys(fix for problem, _, fix in parts if problem)
    text = " · ".join(findings)
    return f"{text}; {', and '.join(fixes)}" if fixes else text


# The sources of settings: environment, `gateway.toml` and flags, in rising order.

PREFIX: Final = "GATEWAY_"
TOML_VARIABLE: Final = "GATEWAY_CONFIG"
"""The variable with the path of `gateway.toml`."""
EVERY_SETTING: Final = "see `gateway config` for every setting"
NOT_DECLARED: Final = "no contract declares it"
MAX_SECRET_BYTES: Final = 65_536


class SettingsSource(IntEnum):
    """The sources in rising order."""

    VARIABLE = 0
    TOML = 1
    FLAG = 2


class Name(Struct, frozen=True, kw_only=True):
    """The names of one setting in all sources."""

    variable: str
    path: tuple[str, ...]
    """The keys in `gateway.toml`, outermost first."""
    flag: str | None = None

    def of_file(self) -> "Name":
        """The name of the setting for a file that contains the value of this one."""
        *parents, last = self.path
        return Name(
            variable=f"{self.variable}_FILE",
            path=(*parents, f"{last}_file"),
            flag=self.flag and f"{self.flag}_file",
        )

    def __str__(self) -> str:
        return ".".join(self.path)


class SourceValue(Struct, frozen=True, kw_only=True):
    """A value as a source has it, not converted yet. Its repr shows only the origin."""

    value: Any
    origin: str
    source: SettingsSource

    def __repr__(self) -> str:
        return f"SourceValue({self.origin})"


class Sources(Struct, frozen=True, kw_only=True):
    """All three sources. Its repr shows no value."""

    variables: Mapping[str, str]
    """The `GATEWAY_*` part of the environment."""
    toml: Mapping[str, Any]
    toml_path: Path | None
    flags: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Sources({self.toml_path})"

    def find(self, name: Name) -> SourceValue | None:
        """The value in the highest source that has one, or None."""
        return next(self._values(name), None)

    def find_secret(self, name: Name) -> tuple[Secret, str] | None:
        """A secret and its origin. A source has the secret itself, or the path of its file.

        Raises `ConfigurationError` if one source has both, or if the file cannot be read.
        """
        direct, file = self.find(name), self.find(name.of_file())
        if direct is None or (file and file.source > direct.source):
            return None if file is None else (_read_secret(file), file.origin)
        if file and file.source == direct.source:
            raise ConfigurationError(f"{direct.origin} and {file.origin} are both set; keep one")
        if not isinstance(direct.value, str):
            raise ConfigurationError(f"{direct.origin}: must be text; put it in quotes")
        return Secret(direct.value), direct.origin

    def refuse_unknown(
        self, table: tuple[str, ...], known: Collection[str], what: str, otherwise: str
    ) -> None:
        """Raise `ConfigurationError` for a key of `table` in `gateway.toml` that is not `known`.

        `what` is what the keys name, such as "a setting". `otherwise` is the advice if no known key
        is similar.
        """
        for key in _at(self.toml, table) or ():
            if key not in known:
                path = ".".join((*table, key))
                raise ConfigurationError(
                    f"{self.toml_path}: {path} is not {what}; {hint(key, known, otherwise)}"
                )

    def _values(self, name: Name) -> Iterator[SourceValue]:
        flag = self.flags.get(name.flag or "")
        if flag is not None and flag != ():
            origin = f"--{str(name.flag).replace('_', '-')}"
            yield SourceValue(value=flag, origin=origin, source=SettingsSource.FLAG)
        value = _at(self.toml, name.path)
        if value is not None:
            origin = f"{self.toml_path}: {name}"
            yield SourceValue(value=value, origin=origin, source=SettingsSource.TOML)
        text = self.variables.get(name.variable, "").strip()
        if text:
            yield SourceValue(value=text, origin=name.variable, source=SettingsSource.VARIABLE)


def setting_name(name: str) -> Name:
    """The name of one of the gateway's own settings."""
    return Name(variable=f"{PREFIX}{name.upper()}", path=(name,), flag=name)


def upstream_name(upstream: str, member: str) -> Name:
    """The name of a setting of an upstream, such as `base_url` or a credential."""
    return Name(
        variable=f"{PREFIX}{upstream}_{member}".upper(), path=("upstreams", upstream, member)
    )


def webhook_name(provider: str, member: str) -> Name:
    """The name of a setting of a source of webhooks."""
    return Name(
        variable=f"{PREFIX}WEBHOOKS_{provider}_{member}".upper(),
        path=("webhooks", provider, member),
    )


def backend_name(upstream: str) -> Name:
    """The name of the setting that chooses an upstream's backend."""
    return Name(
        variable=f"{PREFIX}BACKEND_{upstream}".upper(), path=("upstreams", upstream, "backend")
    )


def _at(table: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        table = table.get(key) if isinstance(table, Mapping) else None
    return table


def _read_secret(given: SourceValue) -> Secret:
    """The content of the file. Errors do not contain its path, which may be a misplaced secret."""
    try:
        path = Path(given.value)
        with path.open("rb") as file:
            content = file.read(MAX_SECRET_BYTES + 1)
        text = content.decode().strip()
    except (OSError, TypeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path to a UTF-8 file"
        raise ConfigurationError(
            f"{given.origin}: the file cannot be read ({reason}); name a readable file"
        ) from None
    if not text or len(content) > MAX_SECRET_BYTES:
        raise ConfigurationError(
            f"{given.origin}: the file is empty or too large; it must contain only the secret"
        )
    return Secret(text)
