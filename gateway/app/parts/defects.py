"""Reports the defects of this process to its operators."""

import asyncio
import logging
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from gateway.errors import ConfigurationError
from gateway.installed import install_command
from gateway.observability.defects import DefectHandler
from gateway.settings import Settings
from gateway.settings.secret import Secret

if TYPE_CHECKING:
    from gateway.observability.sentry import SentryReports


def report_defects(settings: Settings, dsn: Secret, stack: AsyncExitStack) -> None:
    """Report defects to the project of `dsn` until `stack` ends. Raises `ConfigurationError`."""
    try:
        reports = _opened(settings, dsn)
    except ImportError:
        raise ConfigurationError(
            "sentry_dsn: Sentry's SDK is not installed; run "
            f"`{install_command('sentry')}`, or remove the setting"
        ) from None
    # It waits for Sentry, so it must not stop the event loop.
    stack.push_async_callback(partial(asyncio.to_thread, reports.close))
    handler = DefectHandler(reports.send)
    root = logging.getLogger()
    # The first one: the line that others write of the same record has the id of the report.
    root.handlers.insert(0, handler)
    stack.callback(root.removeHandler, handler)


def _opened(settings: Settings, dsn: Secret) -> "SentryReports":
    from gateway.observability.sentry import (  # noqa: PLC0415 - it is optional
        SentryProject,
        open_sentry,
    )

    release = f"contract-gateway@{version('contract-gateway')}"
    return open_sentry(
        SentryProject(dsn=dsn.reveal(), service=settings.server_name, release=release)
    )
