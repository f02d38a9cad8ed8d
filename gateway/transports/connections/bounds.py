"""Limits for the connections of clients, for each host and for the server as a whole."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from msgspec import Struct
from uvicorn.server import ServerState

from gateway.bounds.rates import PeerBuckets, Rate
from gateway.bounds.shares import BodyBudgets, ByteBudget, ConnectionTable
from gateway.clock import SystemClock
from gateway.transports.connections.queue import QueueLimits, RequestQueue
from gateway.transports.http.senders import Peers


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """Limits for connections, heads, bodies, pipelined requests and slow clients."""

    max_head_bytes: int = 36 * 1024
    """The bytes of the request line and the headers, or of anything between two pieces of a body.

    This counts line ends too. The limit of the edge is lower and exact."""
    head_deadline_seconds: float = 10.0
    """The time for a whole head, from the opening of the connection or the previous answer."""
    max_connections: int = 900
    """At the same time. This is below the 1,024 files that most systems let a process open."""
    max_connections_of_one_host: int = 300
    opened_by_one_host: Rate = Rate(200, 200)
    """The rate at which one host may open connections. More are held and then refused."""
    hold_seconds: float = 5.0
    """How long a connection above a host's limits waits for its refusal."""
    max_held: int = 1000
    """The most connections of all hosts that wait in this way. More are closed without an answer.
    """
    max_body_bytes: int = 128 * 2**20
    """The memory for bodies of authenticated callers at the same time, counted as they are read.

    A lost connection releases its part, although its bytes may be in use for a moment longer."""
    max_unauthenticated_bytes: int = 32 * 2**20
    """The same for unauthenticated senders, and for requests that wait for earlier answers.

    In addition, a connection holds one read of a body that the application has not read yet. Then
    it is paused."""
    max_unauthenticated_bytes_of_one_host: int = 8 * 2**20
    peers: Peers = Peers()
    """Knows our own proxies in front of the gateway. They are exempt from the limits of one host.
    """
    max_pipelined: int = 32
    """The most requests of one connection that wait for earlier answers."""
    stall_seconds: float = 30.0
    """The time in which a client must read `stall_bytes` of its answer, or all that is left."""
    stall_bytes: int = 16 * 1024
    max_unread_bytes: int = 96 * 2**20
    """The memory for answers that clients have not read, of all connections. What is read within
    milliseconds does not count. A client whose answer has no room is cut off."""
    max_unread_bytes_of_one_host: int = 24 * 2**20
    """Two answers with the largest result of a tool. One answer of a host always has room."""
    linger_seconds: float = 3.0
    """How long a refused client may still send. Its bytes are dropped."""
    linger_bytes: int = 64 * 2**20
    queue: QueueLimits = QueueLimits()
    observe_overload: Callable[[], None] = lambda: None
    """Called for each call that is refused because too many wait."""
    observe_connections: Callable[[Callable[[], float]], None] = lambda _number: None
    """Called once, with what returns the number of open connections."""


class Shared:
    """State that all connections of one server share."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.table = ConnectionTable(limits.max_connections, limits.max_connections_of_one_host)
        limits.observe_connections(self.table.__len__)
        self.queue = RequestQueue(limits.queue, limits.observe_overload)
        self.opened = PeerBuckets(limits.opened_by_one_host, SystemClock())
        self.unread = ByteBudget(limits.max_unread_bytes, limits.max_unread_bytes_of_one_host)
        self.bodies = BodyBudgets(
            ByteBudget(
                limits.max_unauthenticated_bytes, limits.max_unauthenticated_bytes_of_one_host
            ),
            ByteBudget(limits.max_body_bytes, limits.max_body_bytes),
        )


_of_servers: WeakKeyDictionary[ServerState, Shared] = WeakKeyDictionary()


def shared_by(server: ServerState, limits: ConnectionLimits) -> Shared:
    """The shared state of `server`. Its first connection creates it."""
    shared = _of_servers.get(server)
    if shared is None:
        shared = _of_servers[server] = Shared(limits)
    return shared
