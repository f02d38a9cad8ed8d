"""The way in for webhooks: which sources are open, with which secrets."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from gateway.backends.mock import MockBackend
from gateway.backends.mock_webhooks import Listener, MockSender
from gateway.calls.sending import Line
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.settings import Settings
from gateway.settings.webhooks import SourceSettings, sources_of
from gateway.store.base import Inbox
from gateway.webhooks.arrivals import Arrivals
from gateway.webhooks.ingest import Ingest
from gateway.webhooks.source import OpenSource
