"""Real nginx and Caddy before two instances, with the samples of `deploy/` as they are, but for addresses and TLS."""

from __future__ import annotations

import http.client
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.services.servers import TestServer, program

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
_NGINX = """daemon off;
pid {folder}/pid;
error_log stderr;
worker_processes 2;
events {{}}
http {{
access_log off;
client_body_temp_path {folder}/body;
proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/fastcgi;
uwsgi_temp_path {folder}/uwsgi;
scgi_temp_path {folder}/scgi;
{sample}
}}
"""


@dataclass
class ReverseProxy(TestServer):
    """A proxy that sends the requests at its port to two instances."""

    @classmethod
    def of(cls, kind: str, port: int, instances: tuple[int, int]) -> ReverseProxy:
        """Start nginx or Caddy."""
        proxy = cls(Path(tempfile.mkdtemp(prefix=f"gatehouse-{kind}-", dir="/tmp")), port)
        sample = (DEPLOY / {"nginx": "nginx.two-instances.conf", "caddy": "Caddyfile.two-instances"}[kind]).read_text()
        for was, instance in zip(("127.0.0.1:8001", "127.0.0.1:8002"), instances, strict=True):
            assert was in sample, was
            sample = sample.replace(was, f"127.0.0.1:{instance}")
        try:
            proxy._start(kind, sample)
        except BaseException:
            proxy.remove()
            raise
        return proxy

    def _start(self, kind: str, sample: str) -> None:
        file = self.folder / "configuration"
        if kind == "nginx":
            sample = re.sub(r"(?m)^ *(ssl_\w+|server_name) .*\n", "", sample)
            sample = sample.replace("listen 443 ssl;", f"listen 127.0.0.1:{self.port};")
            file.write_text(_NGINX.format(folder=self.folder, sample=sample))
            command = [program("nginx", "usr/sbin"), "-c", str(file)]
        else:
            sample = sample.replace("*.{$HUB_DOMAIN} {", f"http://:{self.port} {{\n\tbind 127.0.0.1").replace(
                "\ttls internal\n", ""
            )
            # Debian's Caddy 2.6 loses the body of a POST whose connection failed, unless it buffers it (caddyserver/caddy#7546)
            sample = sample.replace("lb_try_duration 5s", "lb_try_duration 5s\n\t\tbuffer_requests")
            file.write_text("{\n\tadmin off\n}\n" + sample)
            command = [program("caddy"), "run", "--adapter", "caddyfile", "--config", str(file)]
        homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(self.folder))
        self.launch(command, self._ask, OSError, env={**os.environ, **homes})

    def _ask(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.connect()
        finally:
            connection.close()
