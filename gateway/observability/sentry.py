"""Sends reports of defects to Sentry. Needs the extra `sentry`."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from sentry_sdk import Client
from sentry_sdk.utils import BadDsn

from gateway.errors import ConfigurationError
from gateway.observability.defects import DefectReport, FailedWith

_SECONDS: Final = 2.0
"""How long a stop waits for reports that are not sent yet."""
_EVENT: Final = frozenset(
    {
        "environment",
        "event_id",
        "exception",
        "extra",
        "level",
        "logentry",
        "logger",
        "platform",
        "release",
        "sdk",
        "server_name",
        "timestamp",
    }
)
"""The members of an event that are sent. The SDK may know more of the process, such as its command
line and its variables."""


class SentryProject(Struct, frozen=True, kw_only=True):
    """The project that gets reports, and who sends them."""

    dsn: str
    service: str
    release: str


def open_sentry(project: SentryProject) -> "SentryReports":
    """What sends reports to `project`, in a thread. Raises `ConfigurationError`."""
    try:
        client = Client(
            project.dsn,
            release=project.release,
            server_name=project.service,
            # The log decides what is a defect. An integration would add requests and variables.
            # Personal data is off by default, and the option for it is deprecated.
            default_integrations=False,
            auto_enabling_integrations=False,
            include_local_variables=False,
            include_source_context=False,
            max_request_body_size="never",
            max_breadcrumbs=0,
            before_send=only_known,
            auto_session_tracking=False,
            send_client_reports=False,
            enable_backpressure_handling=False,
            debug=False,
            spotlight=False,
            http_proxy="",  # no proxy of the environment
            https_proxy="",
            shutdown_timeout=_SECONDS,
        )
    except BadDsn:
        raise ConfigurationError(
            "sentry_dsn: Sentry does not accept it; copy the DSN from the project's settings"
        ) from None
    return SentryReports(client)


def only_known(event: Any, _hint: Any) -> Any:
    """`event` with the members that this module sets, and no others."""
    return {name: value for name, value in event.items() if name in _EVENT}


class SentryReports:
    """A Sentry project. It is not the client of the process, so libraries send nothing to it."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, report: DefectReport) -> None:
        """Put `report` in a queue. It is dropped when the queue is full or Sentry is away."""
        self._client.capture_event(_event(report))

    def close(self) -> None:
        """Send what waits. It may block for some seconds."""
        self._client.close()


def _event(report: DefectReport) -> Mapping[str, Any]:
    event: dict[str, Any] = {
        "event_id": report.id,
        "timestamp": report.at,
        "level": "error",
        "logger": report.logger,
        "exception": {"values": [_exception(each) for each in report.errors]},
        "extra": {"unreported": report.unreported},
    }
    return event | ({"logentry": {"message": report.message}} if report.message else {})


def _exception(error: FailedWith) -> Mapping[str, Any]:
    frames = [
        {
            "module": each.module,
            "filename": each.file,
            "function": each.function,
            "lineno": each.line,
            "in_app": each.is_own,
        }
        for each in error.frames
    ]
    found = {"type": error.name, "module": error.module}
    return {**found, "stacktrace": {"frames": frames}} if frames else found
