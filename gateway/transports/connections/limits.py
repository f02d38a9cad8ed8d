"""What the clients of one server may cost, alone and together, beside the calls they make."""

from weakref import WeakKeyDictionary

from msgspec import Struct
from uvicorn.server import ServerState

from gateway.clock import SystemClock
from gateway.limits.addresses import NOWHERE, Networks
from gateway.limits.buckets import PeerBuckets, Rate
from gateway.limits.budgets import BodyBudgets, ByteBudget
from gateway.limits.connections import ConnectionTable


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """What a client may cost: connections, heads, bodies, pipelined requests, slow answers."""

    max_head_bytes: int = 36 * 1024
    """Request line and headers as they arrive, or anything else between two pieces of a body. The
    edge's own limit is exact, and lower: here line ends count too."""
    head_deadline_seconds: float = 10.0
    """For a whole head, from the opening of the connection or the answer before."""
    max_connections: int = 900
    """At once. Below the 1,024 files that most systems let a process open."""
    max_connections_of_one_host: int = 300
    opened_by_one_host: Rate = Rate(200, 200)
    """Connections that one host may open. More are held, and then refused."""
    hold_seconds: float = 5.0
    """How long a connection too many of its host waits for its refusal."""
    max_held: int = 1000
    """Connections that wait so at once, in all; more are closed without an answer."""
    max_body_bytes: int = 128 * 2**20
    """Of what is read of the bodies of proven callers, at once. A connection that is lost gives its
    part back, though what it sent may be in use for a moment longer."""
    max_unauthenticated_bytes: int = 32 * 2**20
    """The same of those whose senders are not proven, and of requests that wait for their turn. Of
    a body that is not read yet a connection holds one read beside this, and is then paused."""
    max_unauthenticated_bytes_of_one_host: int = 8 * 2**20
    proxies: Networks = NOWHERE
    """Our own, in front of the gateway: no one of them is one host."""
    max_pipelined: int = 32
    """Requests of one connection that wait for the answers before theirs."""
    stall_seconds: float = 30.0
    """For a client to take some of what waits for it: `stall_bytes`, or all there is."""
    stall_bytes: int = 16 * 1024
    linger_seconds: float = 3.0
    """For a client to stop sending, once it was refused: what it still sends is dropped."""
    linger_bytes: int = 64 * 2**20


class Shared:
    """What the connections of one server share."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.table = ConnectionTable(limits.max_connections, limits.max_connections_of_one_host)
        self.opened = PeerBuckets(limits.opened_by_one_host, SystemClock())
        self.bodies = BodyBudgets(
            ByteBudget(
                limits.max_unauthenticated_bytes, limits.max_unauthenticated_bytes_of_one_host
            ),
            ByteBudget(limits.max_body_bytes, limits.max_body_bytes),
        )


_of_servers: WeakKeyDictionary[ServerState, Shared] = WeakKeyDictionary()


def shared_by(server: ServerState, limits: ConnectionLimits) -> Shared:
    """What the connections of `server` share, made with the first of them."""
    shared = _of_servers.get(server)
    if shared is None:
        shared = _of_servers[server] = Shared(limits)
    return shared
