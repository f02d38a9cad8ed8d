"""What W3C Trace Context says of a parent, and what other hosts are sent of it."""

import pytest

from gateway.trace_context import TraceContext, current_trace, forwarded, read_trace
from tests.unit.tables import each_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("parent", "flags"),
    [
        (PARENT, 1),
        (f"00-{TRACE}-{SPAN}-00", 0),
        (f"00-{TRACE}-{SPAN}-ff", 3),
        (f"cc-{TRACE}-{SPAN}-01", 1),
        (f"cc-{TRACE}-{SPAN}-01-what-comes-later", 1),
    ],
)
def test_a_parent_is_read(parent: str, flags: int) -> None:
    assert read_trace(parent) == TraceContext(TRACE, SPAN, flags)


@each_of(
    "parent",
    [
        "",
        None,
        7,
        [PARENT],
        PARENT.upper(),
        f" {PARENT}",
        f"{PARENT}\n",
        f"{PARENT}-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"{PARENT},{PARENT}",
        "x" * 100_000,
    ],
)
def test_an_invalid_parent_is_none(parent: object) -> None:
    assert read_trace(parent) is None


@each_of(
    ("state", "kept"),
    [
        ("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"),
        ("tenant@system=x y,0=a:b/c", "tenant@system=x y,0=a:b/c"),
        (" a=1 ,\t,b=2,", "a=1,b=2"),
        (",".join(f"a{n}=1" for n in range(32)), ",".join(f"a{n}=1" for n in range(32))),
        ("a=" + "1" * 256, "a=" + "1" * 256),
        ("a=1\r\nx-evil: 1", ""),
        ("a=é", ""),
        ("a", ""),
        ("a=1,junk", ""),
        ("A=1", ""),
        ("a=1=2", ""),
        ("a=", ""),
        ("a=" + "1" * 257, ""),
        ("a=1,a=2", ""),
        ("a" * 100_000, ""),
        (",".join(f"a{n}=1" for n in range(2000)), ""),
        (",".join(f"a{n}=1" for n in range(33)), ""),
        ({"a": 1}, ""),
    ],
)
def test_an_invalid_state_is_dropped_and_the_parent_kept(state: object, kept: str) -> None:
    assert read_trace(PARENT, state) == TraceContext(TRACE, SPAN, 1, kept)


def test_of_a_long_state_long_members_go_first_and_then_the_last() -> None:
    long, members = "long=" + "1" * 200, [f"a{n}=" + "1" * 96 for n in range(7)]
    read = read_trace(PARENT, ",".join([long, *members]))
    assert read is not None
    assert read.state == ",".join(members[:5])
    assert len(read.state) <= 512


def test_what_other_hosts_are_sent_is_a_setting() -> None:
    assert forwarded("all") == ()
    token = current_trace.set(read_trace(PARENT, "a=1"))
    try:
        assert forwarded("off") == ()
        assert forwarded("ids") == (("traceparent", PARENT),)
        assert forwarded("all") == (("traceparent", PARENT), ("tracestate", "a=1"))
    finally:
        current_trace.reset(token)
