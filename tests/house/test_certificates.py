"""`./tintype` installs behind a proxy that intercepts TLS: what the machine trusts, its installers trust too."""

import datetime as dt
import http.server
import importlib.machinery
import importlib.util
import ipaddress
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parent.parent.parent
CHOSEN = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
)
PATIENCE_S = 60


def load_script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("tintype_script", str(CHECKOUT / "tintype"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    script = importlib.util.module_from_spec(spec)
    loader.exec_module(script)
    return script


@dataclass
class Proxy:
    """A server whose certificate was signed by an authority of its own, as an intercepting proxy's is."""

    port: int
    authority: Path
    visits: list[str] = field(default_factory=list[str])

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.port}"


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("authority")
    make_certificates(folder)

    class Index(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.visits.append(self.path)
            body = b"<!DOCTYPE html><html><body></body></html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's names
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    found = Proxy(server.server_port, folder / "authority.pem")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def make_certificates(folder: Path) -> None:
    """An authority, and a certificate of it for 127.0.0.1 with its key."""
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)]) for text in ("Proxy", "127.0.0.1")]
    begin = dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)

    def sign(index: int, extension: x509.ExtensionType, *, critical: bool) -> bytes:
        builder = (
            x509.CertificateBuilder()
            .subject_name(names[index])
            .issuer_name(names[0])
            .public_key(keys[index].public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(begin + dt.timedelta(days=2))
            .add_extension(extension, critical=critical)
        )
        return builder.sign(keys[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    (folder / "authority.pem").write_bytes(
        sign(0, x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    own = sign(
        1, x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
    )
    key = keys[1].private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(own + key)


@pytest.fixture
def bare_environment() -> dict[str, str]:
    """Ours, without what it says about certificates and package indexes."""
    dropped = (*CHOSEN, "PIP_FIND_LINKS", "PIP_INDEX_URL", "UV_INDEX_URL", "PIP_EXTRA_INDEX_URL")
    return {name: value for name, value in os.environ.items() if name not in dropped}


@pytest.mark.parametrize("installer", ["pip", "uv", "node"])
def test_installers_trust_the_authority_that_the_machine_trusts(
    installer: str,
    proxy: Proxy,
    bare_environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    command = visit_command(installer, proxy.address, tmp_path)
    script = load_script()
    proxy.visits.clear()
    visit(command, bare_environment)
    assert proxy.visits == [], "without it the authority is unknown"

    monkeypatch.setattr(script, "CERTIFICATE_BUNDLES", ("/nowhere", str(proxy.authority)))
    visit(command, script.trust_system_certificates(bare_environment))

    assert proxy.visits, f"{installer} did not get through"


def visit(command: list[str], environment: Mapping[str, str]) -> None:
    """Ask for a page; whether it is a package does not matter, only whether the server was reached."""
    subprocess.run(command, check=False, capture_output=True, env=environment, timeout=PATIENCE_S)


def visit_command(installer: str, address: str, folder: Path) -> list[str]:
    index = f"{address}/simple"
    if installer == "node":
        node, _ = load_script().find_node()
        return [node, "-e", f"require('https').get('{address}/node').on('error', () => process.exit(1))"]
    if installer == "uv":
        uv = shutil.which("uv") or str(CHECKOUT / ".venv-uv" / "bin" / "uv")
        if not Path(uv).exists():
            pytest.skip("uv is not installed")
        options = ["--no-cache", "--no-config", "--target", str(folder / "uv"), "--index-url", index]
        return [uv, "pip", "install", *options, "nothing-of-this-name"]
    python = Path(sys.base_prefix) / "bin" / "python3"
    options = ["--no-cache-dir", "--retries", "0", "--target", str(folder / "pip"), "--index-url", index]
    return [str(python), "-m", "pip", "install", *options, "nothing-of-this-name"]


def test_what_the_caller_chose_wins_and_a_machine_without_a_list_keeps_the_installers_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = load_script()
    bundle = tmp_path / "bundle.pem"
    bundle.touch()
    monkeypatch.setattr(script, "CERTIFICATE_BUNDLES", (str(bundle),))

    assert script.trust_system_certificates({"PIP_CERT": "mine"})["PIP_CERT"] == "mine"
    assert script.trust_system_certificates({"SSL_CERT_FILE": "mine"})["NODE_EXTRA_CA_CERTS"] == "mine"
    assert "SSL_CERT_FILE" not in script.trust_system_certificates({"SSL_CERT_DIR": "mine"})

    monkeypatch.setattr(script, "CERTIFICATE_BUNDLES", ())
    monkeypatch.setattr(sys, "platform", "linux")
    assert script.trust_system_certificates({"HOME": "x"}) == {"HOME": "x"}
