"""Drafts a connector: the contract of its upstream."""

from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from gateway.contracts.sources.tree import UPSTREAMS, SourceTree
from gateway.errors import ConfigurationError
from gateway.project.drafts.listing import with_listed
from gateway.project.drafts.names import check_new_connector, words
from gateway.project.drafts.texts import inline, rendered
from gateway.project.placing import Files
from gateway.project.staging import SETTINGS, Project, read_text
from gateway.project.upstreams import settings_text

AUTH_FORMS: Final = "none, bearer, header=NAME or query=NAME"
_CREDENTIAL: Final = "# Which secrets does it need? Their values are settings, and are never here."


class ConnectorWish(Struct, frozen=True, kw_only=True):
    """What is known of a new connector."""

    name: str
    title: str | None = None
    url: str | None = None
    """The base URL. None: the operator sets it."""
    auth: str = "bearer"
    """One of `AUTH_FORMS`."""


def draft_connector(project: Project, tree: SourceTree, wish: ConnectorWish) -> Files:
    """The files of a new connector. Raises `ConfigurationError`."""
    check_new_connector(tree, wish.name)
    title = wish.title or words(wish.name)
    path = PurePosixPath(UPSTREAMS, wish.name, "openapi.yaml")
    values = {
        "NAME": wish.name,
        "VARIABLE": wish.name.upper(),
        "TITLE": inline(title),
        "URL": inline(wish.url),
        "CREDENTIALS": _credentials(wish.auth),
    }
    listed = {"x-upstreams": [f"- ./{path}"]}
    return {
        project.place_of(path): rendered("upstream.yaml", values).encode(),
        **with_listed(project, tree, listed, {wish.name: f"The tools of {title}."}),
        **_settings(project, wish, title),
    }


def _credentials(auth: str) -> str:
    way, equals, name = auth.partition("=")
    if auth == "none":
        return "# It needs no credentials, so it is live only with a setting: GATEWAY_BACKEND_….\n"
    if auth == "bearer":
        secret, place, rule = "token", "headers", ("Authorization", "Bearer {credential.token}")
    elif way in {"header", "query"} and equals and name:
        place = "headers" if way == "header" else "query"
        secret, rule = "api_key", (name, "{credential.api_key}")
    else:
        raise ConfigurationError(f"{auth!r} is no way to authenticate; write {AUTH_FORMS}")
    sent = {"name": rule[0], "template": rule[1]}
    return "\n".join(
        [
            _CREDENTIAL,
            "credentials:",
            f"  - {{name: {secret}, description: From the console of the system.}}",
            f"{place}:",
            f"  - {inline(sent)}",
        ]
    )


def _settings(project: Project, wish: ConnectorWish, title: str) -> Files:
    """The project's `gateway.toml` with a comment about the credentials."""
    if wish.auth == "none":
        return {}
    name = "token" if wish.auth == "bearer" else "api_key"
    upstream = {
        "name": wish.name,
        "title": title,
        "credentials": [{"name": name, "description": "From the console of the system."}],
    }
    file = project.folder / SETTINGS
    text = read_text(file) if file.exists() else ""
    return {SETTINGS: settings_text(text, upstream, project.version).encode()}
