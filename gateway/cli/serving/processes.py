"""`gateway serve --processes`: several processes that serve one address."""

import gc
from functools import partial

from gateway.app.processes.child import ChildProcess
from gateway.app.processes.record import recorded
from gateway.app.processes.supervisor import Callbacks, Supervisor
from gateway.cli.output import announce
from gateway.cli.project import check_project
from gateway.errors import ConfigurationError
from gateway.limits.buckets import Rate
from gateway.observability.logs import configure_logs
from gateway.settings import Settings
from gateway.store.sql.engines import POSTGRES_PREFIXES
from gateway.transports.connections.listen import bind, url_of


def supervise(settings: Settings, number: int) -> ChildProcess | int:
    """Serve in `number` processes until stopped. Returns the exit code.

    In each process that it starts, it returns the part of that process. Raises an `OperatorError`
    if they cannot serve together.
    """
    if not settings.database.startswith(POSTGRES_PREFIXES):
        raise ConfigurationError(
            "several processes need PostgreSQL, because only one process can use a SQLite file or"
            " a database in memory; set GATEWAY_DATABASE_URL=postgresql://…, or serve with"
            " --processes 1"
        )
    check_project(settings)
    lines = settings.log_lines_per_second
    configure_logs(
        level=settings.log_level,
        form=settings.log_format,
        repeats=Rate(lines, 10 * lines),
        secrets=settings.secrets(),
    )
    # The processes share what is imported, as long as nobody writes to it.
    gc.freeze()
    listener = bind(settings.host, settings.port)
    url = url_of(listener)
    with recorded(settings.data, url) as record:
        callbacks = Callbacks(partial(announce, url), record.write)
        found = Supervisor(listener, number, callbacks).run()
    if isinstance(found, int):
        listener.close()
    return found
