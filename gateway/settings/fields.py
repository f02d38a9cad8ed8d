"""The settings of the gateway itself: type, range, default and meaning of each, in one place."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from gateway.contract import credentials
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.job_policy import WORK_POLICY
from gateway.settings.sources import Secret

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
DATABASE_FILE: Final = "gateway.db"
WORKSPACE_FILE: Final = "workspace.db"
_WEBHOOK: Final = WORK_POLICY.jobs["webhook"]

_HostName = Annotated[str, Meta(pattern=r"^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])\Z")]
_ModuleName = Annotated[
    str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z", max_length=200)
]
_Moment = Annotated[datetime, Meta(tz=True)]
_Network = Annotated[str, Meta(pattern=r"^[0-9A-Fa-f:.]{2,45}(/[0-9]{1,3})?\Z")]
_Origin = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9+.-]*://[^/?#@\s]{1,300}\Z")]
_DATABASE_URL: Final = r"^(sqlite(\+aiosqlite)?:///.+|postgres(ql)?://.+|memory:)\Z"


class Fields(Struct, frozen=True, kw_only=True):
    """All settings except those that `LimitFields` adds.

    `Meta.title` says what the value must be, if the type and the range do not.
    """

    host: Annotated[
        str,
        Meta(
            title="an IP address or a host name",
            pattern=r"^[A-Za-z0-9.:_-]{1,253}\Z",
            description="Address to listen on.",
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="Port to listen on. 0 selects any free port.")
    ] = 8700
    data: Annotated[
        Path, Meta(description="Folder for the database and the first administrator's key.")
    ] = Path("data")
    schemas: Annotated[Path, Meta(description="Folder of the contracts.")] = Path("schemas")
    package: Annotated[
        str,
        Meta(
            title="the dotted name of a Python package",
            pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z",
            description="Package that `gateway generate` writes and the gateway serves.",
        ),
    ] = "generated"
    handler_packages: Annotated[
        tuple[_ModuleName, ...],
        Meta(
            title="dotted names of Python packages, separated by commas",
            description="Packages of the connectors. Contracts may only name Python functions and "
            "mocks that are in these packages and are marked for this use.",
        ),
    ] = HANDLER_PACKAGES
    database_url: Annotated[
        Secret | None,
        Meta(
            title="`sqlite:///<path>`, `postgresql://<user>:<password>@<host>/<database>`, or "
            "`memory:` for state that is lost when the process ends",
            pattern=_DATABASE_URL,
            description="Database of the gateway's state. Without it, `gateway.db` in the data "
            "folder.",
        ),
    ] = None
    workspace_url: Annotated[
        Secret | None,
        Meta(
            title="`sqlite:///<path>`, `postgresql://<user>:<password>@<host>/<database>`, or "
            "`memory:` for rows that are lost when the process ends",
            pattern=_DATABASE_URL,
            description="Workspace database, which can replace upstreams that have tables. "
            "Without it, `workspace.db` in the data folder.",
        ),
    ] = None
    allowed_hosts: Annotated[
        tuple[_HostName, ...],
        Meta(
            title="host names without port, separated by commas",
            description="Host names of the gateway that requests may have in the header `Host`. "
            "Without it, the loopback names and `host`. Probes, metrics and operators may use the "
            "loopback names and the address of this machine too.",
        ),
    ] = ()
    allowed_origins: Annotated[
        tuple[_Origin, ...],
        Meta(
            title="origins such as https://app.example.com, separated by commas",
            description="Web origins whose pages may call the gateway. Others are refused.",
        ),
    ] = ()
    max_body_bytes: Annotated[
        int, Meta(ge=1024, le=64 * 2**20, description="Largest request body, in bytes.")
    ] = 2**20
    body_deadline_seconds: Annotated[
        float, Meta(ge=0.1, le=300, description="Seconds in which a request body must arrive.")
    ] = 10.0
    max_concurrent_calls: Annotated[
        int, Meta(ge=1, le=100_000, description="Maximum of concurrent calls; others are refused.")
    ] = 1000
    reply_max_bytes: Annotated[
        int,
        Meta(ge=1024, le=2**30, description="Largest upstream reply, in decompressed bytes."),
    ] = 10 * 2**20
    environment: Annotated[
        Literal["development", "production"],
        Meta(description="In production, as on public addresses, only named mocks answer."),
    ] = "development"
    allow_plain_http: Annotated[
        bool, Meta(description="Whether upstreams on other machines may be called without TLS.")
    ] = False
    seed: Annotated[
        int, Meta(ge=0, le=2**63 - 1, description="Seed of the mocks. Equal seeds give equal data.")
    ] = 1
    mock_latency_seconds: Annotated[
        float, Meta(ge=0, le=60, description="Seconds that a mock waits before it replies.")
    ] = 0.0
    mock_speed: Annotated[
        float,
        Meta(
            ge=0,
            le=100_000,
            description="How many times faster than real people the simulated people of mocks "
            "answer. At 60, an answer takes as many seconds as it would take minutes. At 0, the "
            "clock of mocks stands still, and they send no webhooks.",
        ),
    ] = 60.0
    mock_time: Annotated[
        _Moment | None,
        Meta(
            title="a time such as 2026-11-20T12:00:00Z",
            description="Start of the clock of mocks. It runs as fast as the gateway's, and "
            "continues from the latest change of a mock after a restart. Without it, mocks use "
            "the gateway's clock.",
        ),
    ] = None
    audit_flush_seconds: Annotated[
        float,
        Meta(ge=0.001, le=5, description="Maximum wait of the audit record of a read, in seconds."),
    ] = 0.05
    audit_batch_records: Annotated[
        int, Meta(ge=1, le=10_000, description="Maximum number of audit records in a transaction.")
    ] = 250
    audit_queue_records: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Maximum number of audit records that wait to be written. Beyond this, "
            "calls wait.",
        ),
    ] = 5000
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="Lowest level that is logged."),
    ] = "info"
    log_format: Annotated[
        Literal["auto", "json", "console"],
        Meta(description="Format of the log. `auto` is `console` on a terminal, else `json`."),
    ] = "auto"
    aliases: Annotated[
        bool,
        Meta(
            description="Whether the gateway also serves the routes `/tools/execute`, `/health` "
            "and `/mcp/info`, for clients that were written for them."
        ),
    ] = True
    log_calls: Annotated[
        bool,
        Meta(
            description="Whether each call with an audit record is also logged, at the level "
            "of its outcome and without its arguments."
        ),
    ] = True
    bootstrap_key: Annotated[
        Secret | None,
        Meta(
            title=credentials.CHOSEN_RULE,
            description="The first administrator's key. Without it, and if the database has no "
            "administrator's key, the gateway creates one at the start, and writes it to "
            "`bootstrap-key` in the data folder.",
        ),
    ] = None
    workers: Annotated[
        int,
        Meta(
            ge=0,
            le=64,
            description="Size of the worker in this process: each unit adds slots for the jobs of "
            "webhooks, deliveries and calls. At 0, only `gateway worker` processes run jobs.",
        ),
    ] = WORK_POLICY.size
    webhook_days: Annotated[
        float,
        Meta(ge=1, le=3650, description="Days for which the payload of a webhook is kept."),
    ] = _WEBHOOK.payload_days or _WEBHOOK.retention_days
    webhook_id_days: Annotated[
        float,
        Meta(
            ge=30,
            le=3650,
            description="Days for which the id of a webhook is kept, so that it is not processed "
            "twice. Senders repeat webhooks for days, and operators can repeat them by hand later.",
        ),
    ] = _WEBHOOK.retention_days
    event_days: Annotated[
        float,
        Meta(ge=1, le=3650, description="Days for which delivered events are kept for followers."),
    ] = 30
    job_days: Annotated[
        float,
        Meta(
            ge=1,
            le=3650,
            description="Days for which ended deliveries and calls are kept, with their attempts.",
        ),
    ] = WORK_POLICY.jobs["delivery"].retention_days
    audit_days: Annotated[
        float, Meta(ge=1, le=3650, description="Days for which audit records are kept.")
    ] = 90
    secrets_key: Annotated[
        Secret | None,
        Meta(
            title="base64 of 32 bytes; several are separated by commas, the newest first",
            pattern=r"^[A-Za-z0-9+/=, ]+\Z",
            description="Key that encrypts the signing secrets of endpoints in the database. "
            "Older keys decrypt the secrets that they encrypted. Without it, the first start "
            "writes a new key to `secrets-key` in the data folder.",
        ),
    ] = None
    backup_passphrase: Annotated[
        Secret | None,
        Meta(
            title="a line of 12 to 1024 characters",
            pattern=r"^[^\x00-\x1f\x7f]{12,1024}\Z",
            description="Passphrase that encrypts backups. Without it, backups can be neither "
            "written nor read.",
        ),
    ] = None
    endpoints_allow: Annotated[
        tuple[_Network, ...],
        Meta(
            title="networks such as 10.20.0.0/16, separated by commas",
            description="Private networks in which endpoints are allowed, even without TLS and on "
            "any port.",
        ),
    ] = ()
    trusted_proxies: Annotated[
        tuple[_Network, ...],
        Meta(
            title="networks such as 10.20.0.0/16, separated by commas",
            description="Proxies in front of the gateway. The gateway reads `proxy_header` only "
            "in requests from these networks.",
        ),
    ] = ()
    agent: Annotated[
        str,
        Meta(
            title="the name of an agent of the policies",
            max_length=100,
            description="Agent whose tools `gateway mcp` and `gateway run` serve on stdin and "
            "stdout, where clients present no key.",
        ),
    ] = ""
    key: Annotated[
        Secret | None, Meta(description="Key that the command line sends to a remote gateway.")
    ] = None

    def __post_init__(self) -> None:
        if not self.allowed_hosts:
            force_setattr(self, "allowed_hosts", _hosts(self.host))

    @property
    def database(self) -> str:
        """The URL of the database. It may contain a password."""
        if self.database_url is not None:
            return self.database_url.reveal()
        return f"sqlite:///{self.data / DATABASE_FILE}"

    @property
    def workspace(self) -> str:
        """The URL of the workspace database. It may contain a password."""
        if self.workspace_url is not None:
            return self.workspace_url.reveal()
        return f"sqlite:///{self.data / WORKSPACE_FILE}"


def _hosts(host: str) -> tuple[str, ...]:
    own = f"[{host}]" if ":" in host else host
    return tuple(dict.fromkeys((*LOOPBACK_NAMES, own)))
