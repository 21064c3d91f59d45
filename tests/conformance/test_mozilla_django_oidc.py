"""mozilla-django-oidc signs people in to a Django application; it verifies signature and nonce by itself."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from types import ModuleType

import django
import pytest
from django.conf import settings
from django.contrib.auth import get_user
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import include, path
from playwright.sync_api import expect
from werkzeug.serving import make_server

from tests.conformance.provider import SECRET
from tests.conformance.signing_in import EMAIL, sign_in
from tests.support.browsers.chromium import Opened
from tests.support.processes.installation import eventually

HOME = """<!doctype html><title>Home</title>
{% if person.is_authenticated %}<h1>Hello {{ person.email }}</h1>
<form method="post" action="/oidc/logout/">{% csrf_token %}<button>Sign out</button></form>
{% else %}<h1>Home</h1><a href="/oidc/authenticate/">Sign in</a>{% endif %}"""


def home(request: HttpRequest) -> HttpResponse:
    return HttpResponse(engines["django"].from_string(HOME).render({"person": get_user(request)}, request))


def end_session_address(request: HttpRequest) -> str:
    """Return where mozilla-django-oidc sends the browser after its own logout (OIDC_OP_LOGOUT_URL_METHOD)."""
    token, here = request.session["oidc_id_token"], request.build_absolute_uri("/")
    return f"{settings.PROVIDER}/service/oidc/logout?id_token_hint={token}&post_logout_redirect_uri={here}"


@pytest.fixture(scope="module")
def application(hub_url: str, ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the Django application and return its address."""
    folder, addresses = tmp_path_factory.mktemp("django"), ModuleType("addresses")
    installed = ["django.contrib.sessions", "django.contrib.auth", "django.contrib.contenttypes", "mozilla_django_oidc"]
    configure(hub_url, folder / "django.db", addresses, installed)
    django.setup()
    vars(addresses)["urlpatterns"] = [path("", home), path("oidc/", include("mozilla_django_oidc.urls"))]
    server = make_server("127.0.0.1", ports["django"], get_wsgi_application(), threaded=True)

    def serve() -> None:
        call_command("migrate", verbosity=0)  # here, because Django refuses its database beside Playwright's event loop
        server.serve_forever(poll_interval=0.02)

    thread = Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def configure(hub_url: str, database: Path, addresses: ModuleType, installed: list[str]) -> None:
    settings.configure(
        SECRET_KEY=secrets.token_hex(),
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=addresses,
        INSTALLED_APPS=installed,
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "mozilla_django_oidc.middleware.SessionRefresh",
        ],
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        AUTHENTICATION_BACKENDS=["mozilla_django_oidc.auth.OIDCAuthenticationBackend"],
        LOGIN_REDIRECT_URL="/",
        LOGOUT_REDIRECT_URL="/",
        PROVIDER=hub_url,
        OIDC_RP_CLIENT_ID="django",
        OIDC_RP_CLIENT_SECRET=SECRET,
        OIDC_RP_SIGN_ALGO="RS256",
        OIDC_RP_SCOPES="openid email",
        OIDC_USE_PKCE=True,
        OIDC_STORE_ID_TOKEN=True,
        OIDC_OP_AUTHORIZATION_ENDPOINT=f"{hub_url}/service/oidc/authorize",
        OIDC_OP_TOKEN_ENDPOINT=f"{hub_url}/api/oidc/token",
        OIDC_OP_USER_ENDPOINT=f"{hub_url}/service/oidc/userinfo",
        OIDC_OP_JWKS_ENDPOINT=f"{hub_url}/service/oidc/jwks",
        OIDC_OP_LOGOUT_URL_METHOD=f"{__name__}.end_session_address",
        OIDC_RENEW_ID_TOKEN_EXPIRY_SECONDS=1,
    )


def test_django_signs_in_renews_silently_and_signs_out(application: str, opened: Opened) -> None:
    page = opened()
    page.goto(f"{application}/")
    page.get_by_role("link", name="Sign in").click()
    sign_in(page)
    page.wait_for_url(f"{application}/")
    expect(page.get_by_role("heading", name=f"Hello {EMAIL}")).to_be_visible()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url) if "prompt=none" in request.url else None)
    eventually(lambda: page.goto(f"{application}/?again") and requested, "SessionRefresh asks the provider silently")
    page.wait_for_url(f"{application}/?again")
    expect(page.get_by_role("heading", name=f"Hello {EMAIL}")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{application}/")
    page.get_by_role("link", name="Sign in").click()
    page.wait_for_url("**/login**")  # the provider's session has ended too
