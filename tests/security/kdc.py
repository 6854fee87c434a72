"""A Kerberos realm of MIT's KDC for tests: its own folder, port and keys."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

REALM = "TEST.KBROKER"
#: Debian keeps them out of the path of ordinary users.
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def find(command):
    return shutil.which(command, path=_PATH)


class Kdc:
    """A realm with some principals. `environment` is for who uses it."""

    def __init__(self, folder: Path, principals: list[str]) -> None:
        self.folder = folder
        self._principals = principals
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            self.port = sock.getsockname()[1]
        self.keytab = str(folder / "keys.tab")
        self.environment = {
            "KRB5_CONFIG": str(folder / "krb5.conf"),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{folder / 'tickets'}",
            "KRB5_CLIENT_KTNAME": self.keytab,
        }
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        (self.folder / "krb5.conf").write_text(
            f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
            " dns_canonicalize_hostname = false\n rdns = false\n udp_preference_limit = 1\n"
            f"[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{self.port}\n }}\n"
        )
        (self.folder / "kdc.conf").write_text(
            f"[kdcdefaults]\n kdc_listen = 127.0.0.1:{self.port}\n kdc_tcp_listen = 127.0.0.1:{self.port}\n"
            f"[realms]\n {REALM} = {{\n  database_name = {self.folder}/principal\n"
            f"  key_stash_file = {self.folder}/stash\n  acl_file = {self.folder}/acl\n }}\n"
            f"[logging]\n kdc = FILE:{self.folder}/kdc.log\n"
        )
        environment = {**os.environ, **self.environment}

        def run(*arguments: str) -> None:
            subprocess.run(arguments, env=environment, check=True, capture_output=True)

        run(find("kdb5_util"), "create", "-s", "-r", REALM, "-P", "master")
        commands = [f"addprinc -randkey {name}\nktadd -k {self.keytab} {name}\n" for name in self._principals]
        subprocess.run(
            [find("kadmin.local")],
            env=environment,
            input="".join(commands).encode(),
            check=True,
            capture_output=True,
        )
        self._process = subprocess.Popen(
            [find("krb5kdc"), "-n"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=60).close()
                return
            except ConnectionRefusedError:
                assert self._process.poll() is None, "the KDC does not start"

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
