"""The gateway: an object for programs that embed it, and a server."""

from gateway.app.gateway import Gateway, Lifecycle
from gateway.app.http_app import VERSION
from gateway.app.reloading import ReloadSources
from gateway.app.serving import ServeOptions, serve

__all__ = ["VERSION", "Gateway", "Lifecycle", "ReloadSources", "ServeOptions", "serve"]
