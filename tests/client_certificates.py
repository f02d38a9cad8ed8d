"""An authority, and certificates that it issued for a server and a client of this machine."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_PEM = serialization.Encoding.PEM


def make_certificates(folder: Path) -> None:
    """Write `authority.pem`, and `<name>.pem` with `<name>.key` for server, client, other."""
    authority = ec.generate_private_key(ec.SECP256R1())
    issuer = _name("authority of a test")
    issued = _signed(issuer, issuer, authority.public_key(), authority, is_authority=True)
    (folder / "authority.pem").write_bytes(issued)
    for name in ("server", "client"):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _signed(_name(name), issuer, key.public_key(), authority)
        _write(folder, name, certificate, key)
    key = ec.generate_private_key(ec.SECP256R1())
    _write(folder, "other", _signed(_name("other"), _name("other"), key.public_key(), key), key)


def _name(text):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _signed(subject, issuer, public_key, signer, *, is_authority=False) -> bytes:
    now = datetime.now(UTC)
    path_length = 0 if is_authority else None
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.BasicConstraints(ca=is_authority, path_length=path_length), critical=True
        )
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
    )
    return builder.sign(signer, hashes.SHA256()).public_bytes(_PEM)


def _write(folder: Path, name: str, certificate: bytes, key) -> None:
    (folder / f"{name}.pem").write_bytes(certificate)
    private = key.private_bytes(
        _PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / f"{name}.key").write_bytes(private)
