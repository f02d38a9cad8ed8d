"""Messages to untrusted hosts: which they reach, and that no such host delays other messages."""

import asyncio
import gzip
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.backends.http import outbound
from gateway.backends.http.outbound import NoAnswer, Outbound, PostAnswer, SystemResolver
from tests.eventually import PATIENCE_SECONDS
from tests.receivers import answer, receiver

LOOPBACK = ip_address("127.0.0.1")
BODY = b'{"a":1}'


def names(**known):
    """A resolver that knows these names; a list of lists gives each look-up its own answer."""
    counts = {}

    async def _resolve(host):
        found = known.get(host.replace(".", "_"))
        if found is None:
            raise OSError("no such name")
        if isinstance(found[0], list):
            turn = counts[host] = counts.get(host, -1) + 1
            found = found[min(turn, len(found) - 1)]
        return [ip_address(each) for each in found]

    return _resolve


def only_loopback(_target, addresses):
    return None if set(addresses) == {LOOPBACK} else "the host's address is private"


@pytest.fixture
async def make():
    """Makes senders, and closes them."""
    made = []

    def _make(resolve=None, check=lambda *_: None, **options):
        made.append(Outbound(check, resolve=resolve, **options))
        return made[-1]

    yield _make
    for each in made:
        await each.close()


@pytest.fixture
def sender(make):
    return make(names(a_example=["127.0.0.1"]))


async def test_exactly_these_bytes_reach_the_address_under_the_hosts_name(sender):
    async with receiver(answer(200, body=b"thanks")) as (port, got):
        url = f"http://a.example:{port}/hooks/%2F?x=%5B"
        outcome = await sender.post(url, {"content-type": "application/json"}, BODY)
    assert outcome == PostAnswer(status=200, excerpt=b"thanks")
    (request,) = got
    assert (request.method, request.target, request.body) == ("POST", "/hooks/%2F?x=%5B", BODY)
    assert request.headers == {
        "host": f"a.example:{port}",
        "user-agent": "contract-gateway",
        "accept": "*/*",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "content-length": str(len(BODY)),
    }


async def test_a_connection_is_used_again_and_each_message_is_judged(make):
    judged = []
    sender = make(names(a_example=["127.0.0.1"]), lambda *seen: judged.append(seen))
    ports = set()

    async def _note(_request, writer):
        ports.add(writer.get_extra_info("peername")[1])
        writer.write(b"HTTP/1.1 204 X\r\n\r\n")

    async with receiver(_note) as (port, got):
        for _ in range(3):
            await sender.post(f"http://a.example:{port}/", {}, BODY)
    assert (len(got), len(ports), len(judged)) == (3, 1, 3)


async def test_a_refused_address_is_not_connected_to(make):
    sender = make(names(a_example=["10.0.0.1"]), only_loopback)
    outcome = await sender.post("http://a.example:9/", {}, BODY)
    assert outcome == NoAnswer(reason="address_refused", detail="the host's address is private")
    assert await sender.refusal("http://a.example:9/") == outcome


async def test_an_address_in_the_url_is_judged_too(make):
    sender = make(names(), only_loopback)
    for host in ("10.0.0.1", "[::1]", "[::ffff:127.0.0.1]"):
        assert (await sender.post(f"http://{host}:9/", {}, BODY)).reason == "address_refused"


async def test_a_name_that_turns_to_an_inner_address_is_not_followed(make):
    """DNS rebinding: public when it was saved, then inner, then public again."""
    turns = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1"]]
    sender = make(names(a_example=turns), only_loopback)
    async with receiver() as (port, honest), receiver(host="127.0.0.2", port=port) as (_, inner):
        url = f"http://a.example:{port}/"
        outcomes = [await sender.post(url, {}, BODY) for _ in turns]
    assert [getattr(each, "reason", "sent") for each in outcomes] == [
        "sent",
        "address_refused",
        "sent",
    ]
    assert (len(honest), inner) == (2, [])


async def test_between_check_and_connection_a_name_is_not_looked_up_again(make):
    """The second look-up would say otherwise; there is none."""
    sender = make(names(a_example=[["127.0.0.1"], ["127.0.0.2"]]), only_loopback)
    async with receiver() as (port, honest), receiver(host="127.0.0.2", port=port) as (_, inner):
        assert (await sender.post(f"http://a.example:{port}/", {}, BODY)).status == 204
    assert (len(honest), inner) == (1, [])


async def test_a_dead_address_gives_way_to_the_next(make):
    sender = make(names(a_example=["127.0.0.2", "127.0.0.1"]))
    async with receiver() as (port, got):
        assert (await sender.post(f"http://a.example:{port}/", {}, BODY)).status == 204
    assert len(got) == 1


async def test_a_redirect_is_an_answer_and_not_followed(sender):
    async with receiver() as (inner, visited):
        there = f"Location: http://127.0.0.1:{inner}/\r\n"
        for status in (301, 302, 303, 307, 308):
            async with receiver(answer(status, there)) as (port, _):
                outcome = await sender.post(f"http://a.example:{port}/", {}, BODY)
            assert outcome.status == status
    assert visited == []


async def test_the_environment_is_not_asked(sender, monkeypatch, tmp_path):
    """Neither its proxies nor its credentials; nor is a cookie kept."""
    (tmp_path / "netrc").write_text("machine a.example login u password p\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with (
        receiver() as (proxy, proxied),
        receiver(answer(200, "Set-Cookie: a=b\r\n")) as (port, got),
    ):
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        for _ in range(2):
            await sender.post(f"http://a.example:{port}/", {}, BODY)
    assert proxied == []
    assert len(got) == 2
    assert not any({"cookie", "authorization"} & request.headers.keys() for request in got)


async def test_of_a_long_answer_only_the_beginning_is_read(sender):
    sent = 0

    async def _gigabyte(_request, writer):
        nonlocal sent
        writer.write(b"HTTP/1.1 500 X\r\nContent-Length: 1073741824\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    async with receiver(_gigabyte) as (port, _):
        outcome = await sender.post(f"http://a.example:{port}/", {}, BODY)
    assert outcome == PostAnswer(status=500, excerpt=b"x" * 4096)
    assert sent < 32 * 2**20, "what the kernel's buffers hold, not a gigabyte"


async def test_a_compressed_answer_is_not_inflated(sender):
    bomb = gzip.compress(b"0" * 50_000_000)
    async with receiver(answer(500, "Content-Encoding: gzip\r\n", bomb)) as (port, _):
        assert await sender.post(f"http://a.example:{port}/", {}, BODY) == PostAnswer(status=500)


async def test_a_body_that_drips_does_not_hold_the_status_back(make, monkeypatch):
    monkeypatch.setattr(outbound, "EXCERPT_SECONDS", 0.02)
    sender = make(names(a_example=["127.0.0.1"]))

    async def _drip(_request, writer):
        writer.write(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\nx\r\n")
            await writer.drain()
            await asyncio.sleep(0.005)

    async with receiver(_drip) as (port, _):
        outcome = await sender.post(f"http://a.example:{port}/", {}, BODY)
    assert outcome.status == 200


async def test_the_time_limit_ends_with_the_status(make, monkeypatch):
    """What was accepted must not be sent again because its body is late."""
    monkeypatch.setattr(outbound, "EXCERPT_SECONDS", 0.4)
    sender = make(names(a_example=["127.0.0.1"]), timeout_seconds=0.2)

    async def _halt(_request, writer):
        writer.write(b"HTTP/1.1 503 X\r\nContent-Length: 9\r\nRetry-After: 7\r\n\r\nla")
        await writer.drain()

    async with receiver(_halt) as (port, _):
        outcome = await sender.post(f"http://a.example:{port}/", {}, BODY)
    assert outcome == PostAnswer(status=503, retry_after="7", excerpt=b"la")


@pytest.mark.parametrize(
    ("rest", "excerpt"),
    [
        (b"Content-Length: 9\r\n\r\nla", b"la"),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\nla\r\nno size\r\n", b"la"),
        (b"Transfer-Encoding: gzip\r\n\r\nla", b""),
        (b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\nla", b""),
        (b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nla", b""),
        (b"\r\nuntil the end", b"until the end"),
    ],
)
async def test_a_status_stands_whatever_becomes_of_the_body(sender, rest, excerpt):
    async def _break_off(_request, writer):
        writer.write(b"HTTP/1.1 200 X\r\n" + rest)
        await writer.drain()
        writer.close()

    async with receiver(_break_off) as (port, _):
        outcome = await sender.post(f"http://a.example:{port}/", {}, BODY)
    assert outcome == PostAnswer(status=200, excerpt=excerpt)


async def test_of_a_host_nothing_is_kept_longer_than_its_connections(make, monkeypatch):
    monkeypatch.setattr(outbound, "_KEEP_SECONDS", 0.01)
    hosts = [f"h{number}_example" for number in range(20)]
    sender = make(names(**{host: ["127.0.0.1"] for host in hosts}))
    async with receiver() as (port, _):
        for host in hosts:
            await sender.post(f"http://{host.replace('_', '.')}:{port}/", {}, BODY)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while sender._pools:  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.001)


async def test_a_head_that_drips_is_cut_off(make):
    sender = make(names(a_example=["127.0.0.1"]), timeout_seconds=0.05)

    async def _drip(_request, writer):
        for byte in b"HTTP/1.1 200 X\r\n" + b"x" * 1000:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.002)

    async with receiver(_drip) as (port, _):
        outcome = await sender.post(f"http://a.example:{port}/", {}, BODY)
    assert outcome == NoAnswer(reason="timeout", detail="no answer in 0.05 seconds")


async def test_a_resolver_that_is_silent_is_not_waited_for(make):
    async def _silent(_host):
        await asyncio.Event().wait()

    sender = make(_silent, timeout_seconds=0.1)
    assert (await sender.post("http://a.example/", {}, BODY)).reason == "timeout"
    assert (await sender.refusal("http://a.example/")).reason == "unresolved"


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\x00\x01\x02\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 2x0 X\r\n\r\n",
        b"HTTP/1.1 200 X\r\n" + b"A: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 X\r\n" + b"A: x\r\n" * 100_000 + b"\r\n",
        b"HTTP/1.1 200 X\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 X\r\nA\x00: x\r\n\r\n",
    ],
)
async def test_an_answer_that_is_no_http_is_a_broken_connection(sender, reply):
    async def _reply(_request, writer):
        writer.write(reply)
        await writer.drain()
        writer.close()

    async with receiver(_reply) as (port, _):
        outcome = await sender.post(f"http://a.example:{port}/", {}, BODY)
    assert outcome == NoAnswer(reason="broken", detail="the connection broke")


async def test_nobody_there_and_no_such_name(sender):
    async with receiver() as (port, _):
        pass
    assert (await sender.post(f"http://a.example:{port}/", {}, BODY)).reason == "unreachable"
    assert (await sender.post("http://b.example/", {}, BODY)).reason == "unresolved"


async def test_the_system_resolves_names_to_addresses():
    resolve = SystemResolver()
    assert LOOPBACK in await resolve("localhost")
    with pytest.raises(OSError):  # noqa: PT011 - resolvers differ in its words
        await resolve("no-such-name.invalid")


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A server's context for `a.example`, and a client's that trusts it."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("a.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(certificate.public_bytes(pem))
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, form, plain))
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return server, ssl.create_default_context(cafile=folder / "cert.pem")


async def test_the_handshake_names_the_host_and_not_the_address(make, certified):
    server, trust = certified
    asked = []
    server.sni_callback = lambda _socket, name, _context: asked.append(name)
    sender = make(names(a_example=["127.0.0.1"]), trust=trust)
    async with receiver(tls=server) as (port, got):
        assert (await sender.post(f"https://a.example:{port}/", {}, BODY)).status == 204
    assert asked == ["a.example"]
    assert got[0].headers["host"] == f"a.example:{port}"


async def test_a_certificate_of_another_name_or_issuer_is_not_trusted(make, certified):
    server, trust = certified
    resolve = names(a_example=["127.0.0.1"], b_example=["127.0.0.1"])
    async with receiver(tls=server) as (port, got):
        other = await make(resolve, trust=trust).post(f"https://b.example:{port}/", {}, BODY)
        unknown = await make(resolve).post(f"https://a.example:{port}/", {}, BODY)
    assert (other.reason, unknown.reason, got) == ("untrusted", "untrusted", [])


async def test_a_connection_serves_only_the_name_that_its_certificate_was_checked_for(
    make, certified
):
    """Two names at one address: the connection of the one is no way around the other's check."""
    server, trust = certified
    resolve = names(a_example=["127.0.0.1"], b_example=["127.0.0.1"])
    sender = make(resolve, trust=trust)
    async with receiver(tls=server) as (port, got):
        for _ in range(2):
            assert (await sender.post(f"https://a.example:{port}/", {}, BODY)).status == 204
            other = await sender.post(f"https://b.example:{port}/", {}, BODY)
            assert other.reason == "untrusted"
    assert [request.headers["host"] for request in got] == [f"a.example:{port}"] * 2
