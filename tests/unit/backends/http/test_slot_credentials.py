"""The credentials of imported operations over real sockets: token endpoints and mutual TLS."""

import base64
import json
import os
import socket
import ssl
import threading
import traceback
from contextlib import asynccontextmanager, contextmanager, suppress
from urllib.parse import parse_qs

import pytest

from gateway.backends.http.live import LiveBackend
from gateway.contract.slots import CredentialSlot
from gateway.contract.upstream import EncodedRequest, SettingRule, Upstream, UpstreamRequest
from gateway.errors import ConfigurationError, UpstreamRefusedCredentials, UpstreamUnavailable
from gateway.testing.asgi_server import serving
from gateway.testing.live import CANARY
from gateway.testing.suite.secrets import everything_logged
from tests.client_certificates import make_certificates
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS

SERVICE = CredentialSlot(name="service", kind="oauth2", flow="client_credentials")
USER = CredentialSlot(name="user", kind="oauth2", flow="refresh_token")
LOGIN = CredentialSlot(name="login", kind="oauth2")
TLS = CredentialSlot(name="tls", kind="mutual_tls")
KEY = CredentialSlot(name="key", kind="api_key", location="header", key_name="X-Key")
PETS = Upstream(
    name="pets",
    title="Pets",
    base_url=None,
    slots=(SERVICE, USER, LOGIN, TLS, KEY),
    settings=(
        SettingRule(name="service_client_auth", description="", mock="", pattern="header|body"),
    ),
)
CLIENT = {"service_client_id": "i d:1", "service_client_secret": "s&1"}
USERS = {"user_client_id": "u1", "user_client_secret": "u2", "user_refresh_token": "r1"}


class Server:
    """A token endpoint at `/token`, and an API which accepts the tokens that are still valid."""

    def __init__(self):
        self.forms = []
        self.authorizations = []
        self.calls = []
        self.valid = set()
        self.token_status = 200
        self.rotated = {}

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{word}.complete"})
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        if scope["path"] == "/token":
            status, body = self._issue(headers, (await receive())["body"])
        else:
            self.calls.append(headers)
            status, body = self._answer(headers)
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    def _issue(self, headers, form):
        self.forms.append({name: value for name, [value] in parse_qs(form.decode()).items()})
        self.authorizations.append(headers.get("authorization"))
        if self.token_status != 200:
            return self.token_status, {"error": "invalid_client", "error_description": CANARY}
        token = f"{CANARY}-token-{len(self.forms)}"
        self.valid.add(token)
        return 200, {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": 600,
        } | self.rotated

    def _answer(self, headers):
        token = headers.get("authorization", "").removeprefix("Bearer ")
        return (200, {}) if token in self.valid else (401, {"error": CANARY})


@pytest.fixture
def server():
    return Server()


@asynccontextmanager
async def backend_of(server, credentials, **settings):
    async with serving(server) as url:
        urls = {f"{name}_token_url": f"{url}/token" for name in ("service", "user", "login")}
        backend = LiveBackend(
            PETS, ManualClock(), base_url=url, credentials=credentials, settings=urls | settings
        )
        try:
            yield backend
        finally:
            await backend.close()


def request(*alternatives, scopes=()):
    return UpstreamRequest(
        operation="pets.list",
        method="GET",
        path=(),
        encoded=EncodedRequest(target="/pets"),
        slots=alternatives,
        scopes=scopes,
    )


async def status_of(backend, *alternatives, scopes=()):
    sent = request(*alternatives, scopes=scopes)
    return (await backend.send(sent, timeout_seconds=PATIENCE_SECONDS)).status


async def test_a_client_gets_one_token_by_http_basic_with_the_scopes_of_the_requirement(server):
    async with backend_of(server, CLIENT) as backend:
        for _ in range(2):
            assert await status_of(backend, ("service",), scopes=((("read", "write"),),)) == 200
    assert server.forms == [{"grant_type": "client_credentials", "scope": "read write"}]
    pair = base64.b64encode(b"i+d%3A1:s%261").decode()
    assert server.authorizations == [f"Basic {pair}"]


async def test_a_client_can_authenticate_in_the_body(server):
    async with backend_of(server, CLIENT, service_client_auth="body") as backend:
        assert await status_of(backend, ("service",)) == 200
    form = {"grant_type": "client_credentials", "client_id": "i d:1", "client_secret": "s&1"}
    assert (server.forms, server.authorizations) == ([form], [None])


async def test_each_set_of_scopes_has_its_own_token(server):
    async with backend_of(server, CLIENT) as backend:
        for scope in ("read", "write", "read"):
            assert await status_of(backend, ("service",), scopes=(((scope,),),)) == 200
    assert [form["scope"] for form in server.forms] == ["read", "write"]
    used = [call["authorization"] for call in server.calls]
    assert used[0] == used[2] != used[1]


async def test_a_refresh_token_serves_all_scopes_and_is_kept_when_it_rotates(server):
    server.rotated = {"refresh_token": "r2"}
    async with backend_of(server, USERS) as backend:
        for scope in ("read", "write"):
            assert await status_of(backend, ("user",), scopes=(((scope,),),)) == 200
        server.valid.clear()
        assert await status_of(backend, ("user",)) == 200
    assert [form["refresh_token"] for form in server.forms] == ["r1", "r2"]
    assert "scope" not in server.forms[0]


async def test_a_refused_token_is_renewed_once(server):
    async with backend_of(server, CLIENT) as backend:
        assert await status_of(backend, ("service",)) == 200
        server.valid.clear()
        assert await status_of(backend, ("service",)) == 200
    assert (len(server.forms), len(server.calls)) == (2, 3)


async def test_several_slots_of_one_upstream_have_their_own_tokens(server):
    async with backend_of(server, CLIENT | USERS | {"key": "k1"}) as backend:
        assert await status_of(backend, ("service",)) == 200
        assert await status_of(backend, ("key", "user")) == 200
        assert await status_of(backend, ("login",), ("service",)) == 200
    assert [form["grant_type"] for form in server.forms] == ["client_credentials", "refresh_token"]
    assert ["x-key" in call for call in server.calls] == [False, True, False]
    assert server.calls[0]["authorization"] == server.calls[2]["authorization"]


async def test_an_access_token_of_the_operator_is_sent_as_it_is(server):
    server.valid.add("fixed")
    async with backend_of(server, {"service": "fixed", "login": "fixed"}) as backend:
        assert await status_of(backend, ("service",)) == 200
        assert await status_of(backend, ("login",)) == 200
    assert server.forms == []


async def test_an_operation_without_requirements_gets_no_token(server):
    async with backend_of(server, CLIENT) as backend:
        assert await status_of(backend, ()) == 401
    assert server.forms == []
    assert "authorization" not in server.calls[0]


async def test_empty_slots_name_their_settings_and_nothing_is_sent(server):
    async with backend_of(server, {"key": "k1"}) as backend:
        with pytest.raises(UpstreamRefusedCredentials) as refused:
            await status_of(backend, ("key", "user"), ("tls",))
    assert (
        "set GATEWAY_PETS_USER, or GATEWAY_PETS_USER_CLIENT_ID with "
        "GATEWAY_PETS_USER_CLIENT_SECRET with GATEWAY_PETS_USER_REFRESH_TOKEN, "
        "or GATEWAY_PETS_TLS_CERTIFICATE with GATEWAY_PETS_TLS_KEY." in refused.value.detail
    )
    assert server.calls == server.forms == []


async def test_a_refused_client_names_its_settings_and_no_secret_is_logged(server):
    server.token_status = 401
    secrets = {name: f"{CANARY}-{value}" for name, value in (CLIENT | USERS).items()}
    with everything_logged() as log:
        async with backend_of(server, secrets) as backend:
            said = [repr(backend)]
            for slot in ("service", "user"):
                with pytest.raises(UpstreamRefusedCredentials) as refused:
                    await status_of(backend, (slot,))
                said += traceback.format_exception(refused.value)
            problem = backend.problem
    for setting in ("CLIENT_ID", "CLIENT_SECRET", "CLIENT_AUTH"):
        assert f"GATEWAY_PETS_SERVICE_{setting}" in problem
    assert len(server.forms) == 2
    pair = base64.b64encode(CANARY.encode()).decode()[:12]
    text = "\n".join([*said, problem, log.getvalue()])
    assert [each for each in (CANARY, pair) if each in text] == []


async def test_a_token_without_an_endpoint_names_the_setting(server):
    async with backend_of(server, CLIENT, service_token_url="") as backend:
        with pytest.raises(ConfigurationError, match="GATEWAY_PETS_SERVICE_TOKEN_URL"):
            await status_of(backend, ("service",))


def _answer_once(listening, context):
    connection, _ = listening.accept()
    connection.settimeout(PATIENCE_SECONDS)
    tls = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
    with tls, suppress(OSError):
        try:
            tls.do_handshake()
        except ssl.SSLError:
            # What was not read would make this end reset the connection, without the alert.
            os.read(tls.fileno(), 65536)
            return
        tls.recv(65536)
        [[[_, name]]] = tls.getpeercert()["subject"]
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(name)}\r\n\r\n"
        tls.sendall((head + name).encode())
        tls.recv(1)


@contextmanager
def tls_server(folder):
    """A server that requires a client certificate of its authority, and answers with its name.

    It runs in a thread, because a server of asyncio sends no alert when a handshake fails.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    context.load_verify_locations(folder / "authority.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    listening = socket.create_server(("127.0.0.1", 0))

    thread = threading.Thread(target=_answer_once, args=(listening, context))
    thread.start()
    try:
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        thread.join(PATIENCE_SECONDS)
        listening.close()


@pytest.fixture
def certificates(tmp_path, monkeypatch):
    make_certificates(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return tmp_path


def pair_of(folder, name):
    return {
        "tls_certificate": (folder / f"{name}.pem").read_text(),
        "tls_key": (folder / f"{name}.key").read_text(),
    }


async def test_a_server_that_requires_a_certificate_gets_it(certificates):
    with tls_server(certificates) as url:
        credentials = pair_of(certificates, "client")
        backend = LiveBackend(PETS, ManualClock(), base_url=url, credentials=credentials)
        reply = await backend.send(request(("tls",)), timeout_seconds=PATIENCE_SECONDS)
        await backend.close()
    assert (reply.status, reply.body) == (200, b"client")


async def test_a_certificate_of_another_authority_is_named_by_its_setting(certificates):
    credentials = pair_of(certificates, "other")
    with everything_logged() as log, tls_server(certificates) as url:
        backend = LiveBackend(PETS, ManualClock(), base_url=url, credentials=credentials)
        with pytest.raises(UpstreamRefusedCredentials, match="TLS_CERTIFICATE") as refused:
            await backend.send(request(("tls",)), timeout_seconds=PATIENCE_SECONDS)
        await backend.close()
    said = "".join(traceback.format_exception(refused.value)) + log.getvalue()
    lines = [line for line in credentials["tls_key"].splitlines() if len(line) > 40]
    assert lines
    assert [line for line in lines if line in said] == []


def test_a_key_that_does_not_belong_to_the_certificate_is_refused(certificates):
    credentials = pair_of(certificates, "client") | {
        "tls_key": (certificates / "other.key").read_text()
    }
    with pytest.raises(ConfigurationError, match=r"TLS_CERTIFICATE.*do not belong together"):
        LiveBackend(PETS, ManualClock(), base_url="https://x.example", credentials=credentials)


async def test_a_server_without_trust_gets_no_certificate(certificates, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    with tls_server(certificates) as url:
        credentials = pair_of(certificates, "client")
        backend = LiveBackend(PETS, ManualClock(), base_url=url, credentials=credentials)
        with pytest.raises(UpstreamUnavailable, match="cannot be trusted"):
            await backend.send(request(("tls",)), timeout_seconds=PATIENCE_SECONDS)
        await backend.close()
