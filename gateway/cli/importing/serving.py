"""`gateway import --serve`: from a document to a gateway that serves it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click

from gateway.auth.keys import BOOTSTRAP_FILE
from gateway.authoring.project.changes import place
from gateway.authoring.project.staging import GENERATED_PACKAGE, bare_project
from gateway.cli.authoring.generate import generate_project
from gateway.cli.options import STATE_VARIABLES, settings_from, settings_of
from gateway.cli.output import progress
from gateway.cli.problems import plain
from gateway.cli.project import check_contracts
from gateway.cli.serving.serve import serve_until_stopped
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.settings import find_toml
from gateway.settings.sources import backend_name

DATA: Final = Path(".gateway-import")


@contextmanager
def project_to_serve(flags: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The options for the project here. Without one, those for a temporary project without tools.

    Raises `ConfigurationError` if the options name a project that does not exist.
    """
    settings = settings_of(dict(flags))
    if settings.schemas.is_dir() or "schemas" in settings.origins:
        check_contracts(settings)
        yield {**flags, "is_temporary": False}
        return
    with TemporaryDirectory(prefix="gateway-import-") as folder:
        place(Path(folder), bare_project("import", version("contract-gateway")))
        yield {
            **flags,
            "is_temporary": True,
            "schemas": Path(folder) / "schemas",
            "package": GENERATED_PACKAGE,
            "handler_packages": HANDLER_PACKAGES,
        }


def serve_import(flags: Mapping[str, Any], connector: str) -> None:
    """Generate the project of `flags`, and serve it until stopped.

    With the flag `live`, the upstream of `connector` is called instead of its mock. Raises
    `ContractRefused` and `OperatorError`.
    """
    is_temporary = flags["is_temporary"]
    environ = dict(os.environ)
    toml = flags["config"]
    data = flags["data"]
    if is_temporary:
        # As for a demonstration: the databases of other projects are not for this one.
        environ = {k: v for k, v in environ.items() if not k.startswith(STATE_VARIABLES)}
        data = data or DATA / connector
    if flags["live"]:
        environ[backend_name(connector).variable] = "live"
    given = {**flags, "data": data}
    settings = settings_from(given, environ, toml if is_temporary else toml or find_toml(environ))
    with progress("generate") as step:
        generate_project(settings, None, check=False, step=step)
    if is_temporary:
        place_of_key = settings.data / BOOTSTRAP_FILE
        click.echo(
            plain(
                "note: there is no project here, so only the data is kept, in"
                f" {settings.data}; the administrator's key is in {place_of_key}"
            ),
            err=True,
        )
    serve_until_stopped(settings)
