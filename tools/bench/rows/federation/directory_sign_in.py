"""A sign-in whose password a directory checks: page, POST and landing, beside what the directory itself takes (slapd, over TLS)."""

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import ldap

from tests.support.services import slapd
from tests.support.services.servers import PartMissing
from tests.support.services.slapd import Slapd
from tools.bench.measurement import MeasuredLine, measure
from tools.bench.scene import CHEAP_HASH, Scene, configuration
from tools.bench.servers import DidNotStart
from tools.bench.visitor import BenchVisitor, Unexpected, form_of

TENANT = "bench-directory"
TIMES = 60
LOGIN = f"ada@{slapd.MAIL_DOMAIN}"


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """The directory's own time: connect with TLS, bind as the service, search, bind as the person, by libldap alone."""
    try:
        with Slapd.running() as directory:
            provider = {
                "provider_name": "corp", "friendly_provider_name": "Corp", "server_url": directory.url,
                "ca_certificates": directory.ca.pem, "bind_dn": slapd.SERVICE, "bind_password": slapd.SERVICE_PASSWORD,
                "base_dn": slapd.PEOPLE, "domain": slapd.MAIL_DOMAIN, "trusts_email": True,
            }  # fmt: skip
            scene.add_tenant({**configuration(TENANT, CHEAP_HASH), "ldap_providers": [provider]})
            yield _line(scene, directory)
    except PartMissing as missing:
        raise DidNotStart(str(missing)) from None


def _line(scene: Scene, directory: Slapd) -> MeasuredLine:
    visitor, waits = scene.visitor(TENANT), list[float]()

    def sign_in(_: int) -> BenchVisitor:
        visitor.cookies.clear()
        began = time.perf_counter()
        form = form_of(visitor.get("/login").expect(200), "current-password")
        sent = form.with_values(username=LOGIN, current_password=slapd.PASSWORD)
        landing = visitor.follow(visitor.post(form.action, sent).expect(302, 303))
        waits.append((time.perf_counter() - began) * 1000)
        if landing.status != 200:
            raise Unexpected(f"a sign-in ended at {landing.path} with {landing.status}")
        return visitor

    spent = measure(scene.product, scene.bare, sign_in)
    own_ms = _wait_ms(lambda: _bind(directory))
    whole_ms = median(waits[-TIMES:])
    counts = ", ".join(f"{name} {count:g}" for name, count in spent.counts.items() if count)
    return MeasuredLine(
        operation="LDAP sign-in: page, POST, landing",
        counts=f"{counts}; {spent.cpu_ms:.2f} ms CPU",
        measured=f"{whole_ms:.1f} ms, the directory alone {own_ms:.1f} ms = {whole_ms / own_ms:.1f} ×",
    )


def _wait_ms(act: Callable[[], object]) -> float:
    found = []
    for _ in range(TIMES):
        began = time.perf_counter()
        act()
        found.append((time.perf_counter() - began) * 1000)
    return median(found)


def _bind(directory: Slapd) -> None:
    connection: Any = ldap.initialize(f"ldaps://127.0.0.1:{directory.ldaps_port}")
    connection.set_option(ldap.OPT_X_TLS_REQUIRE_CERT, ldap.OPT_X_TLS_ALLOW)  # the certificate names the host
    connection.set_option(ldap.OPT_X_TLS_NEWCTX, 0)
    connection.simple_bind_s(slapd.SERVICE, slapd.SERVICE_PASSWORD)
    (dn, _), *_ = connection.search_s(slapd.PEOPLE, ldap.SCOPE_SUBTREE, f"(mail={LOGIN})")
    connection.simple_bind_s(dn, slapd.PASSWORD)
    connection.unbind_s()
