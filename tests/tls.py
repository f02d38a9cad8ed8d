"""TLS in front of a plain server of this machine, by an authority made up for one test."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

LOOPBACK = "127.0.0.1"


class TlsProxy:
    """What passes bytes on; `connections` counts those that finished their handshake."""

    def __init__(self) -> None:
        self.connections = 0
        self.url = ""
        self.open: set[asyncio.StreamWriter] = set()

    async def cut(self) -> None:
        """End every connection, as a server does that restarts; wait until it has happened."""
        for writer in list(self.open):
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def tls_before(url: str, folder: Path) -> AsyncIterator[TlsProxy]:
    """Serve https in front of the plain `url`; clients must trust `folder/authority.pem`."""
    target = urlsplit(url)
    proxy = TlsProxy()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        proxy.connections += 1
        proxy.open.add(writer)
        inner_reader, inner_writer = await asyncio.open_connection(target.hostname, target.port)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_pass(reader, inner_writer))
                tasks.create_task(_pass(inner_reader, writer))
        finally:
            proxy.open.discard(writer)
            inner_writer.close()
            writer.close()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    _make_certificate(folder)
    context.load_cert_chain(folder / "authority.pem", folder / "key.pem")
    async with await asyncio.start_server(serve, LOOPBACK, 0, ssl=context) as server:
        proxy.url = f"https://{LOOPBACK}:{server.sockets[0].getsockname()[1]}"
        yield proxy
        server.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


def _make_certificate(folder: Path) -> None:
    """A certificate that vouches for itself, and its key, both good for an hour."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "made up for a test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "authority.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
