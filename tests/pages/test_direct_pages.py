"""A usual GET of a page is answered by its view alone, any other by Flask, and a browser cannot tell which (decisions/0296)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, update

from app.contract import errors as e
from app.hub.direct_pages import VIEWS
from app.hub.identity_client import AccountChanged
from app.hub.kept_pages import KeptPages
from app.identity.authentication.sign_in.tables import sessions
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.store.unit import UnitOfWork
from app.kit.admission import SHED, Shed
from app.kit.client import ServiceUnavailable
from tests.pages.test_direct_posts import COOKIES
from tests.support.direct_posts import Answer, Comparison, Page
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.visitor import Visitor

POLICY = {"mode": "strict", "versions": [{"version": "2", "starts_at": "2020-01-01T00:00:00Z"}]}
PROFILE, SECURITY = "/profile", "/security"
SOME = (
    PROFILE, "/profile/edit", SECURITY, "/second-factors", "/second-factors/remove", "/passkeys", "/change-password", "/emails",
    "/organizations", "/delete-account", "/confirm", "/sign-in/link",
)  # fmt: skip
EVERYTHING: dict[str, Any] = {
    "two_factor": "optional", "passkeys": True, "deletion_days": 3, "phone_login": True, "username_login": True, "email_login": True,
    "organizations": {"enabled": True, "self_service_creation": True}, "security_questions": {"pet": "Your first pet?"},
    "pin": {"is_on": True}, "passwordless_email": True, "smart_login": True,
}  # fmt: skip


@dataclass
class Scene:
    """A signed-in person's browser, and what may happen to it."""

    world: World
    ada: Person
    visitor: Visitor
    compared: Comparison

    @property
    def page(self) -> Page:
        """What the browser holds."""
        cookies = "; ".join(f"{one.key}={one.value}" for one in (self.visitor.client._cookies or {}).values())
        return Page({}, {"Cookie": cookies, "User-Agent": self.visitor.agent, "Accept-Language": "en"})

    def asked(self, path: str, headers: dict[str, str] | None = None, **more: Any) -> tuple[Answer, Answer]:
        """Ask both ways, and compare them."""
        direct, generic = self.compared.both_get(None, path, headers={**self.page.headers, **(headers or {})}, **more)
        assert direct.comparable == generic.comparable, path
        assert direct.calls == generic.calls, path
        assert generic.is_by_flask, path
        return direct, generic

    def change_sessions(self, **columns: Any) -> None:
        where = sessions.c.tenant_id == self.world.tenant_id
        with UnitOfWork(self.world.services.database, self.world.tenant_id).separate_transaction() as work:
            work.run(update(sessions).where(where).values(**columns))

    def end_sessions(self) -> None:
        with UnitOfWork(self.world.services.database, self.world.tenant_id).separate_transaction() as work:
            work.run(delete(sessions).where(sessions.c.tenant_id == self.world.tenant_id))

    def notice_change(self) -> None:
        """Let the hub notice another version of the tenant, and read it."""
        for _ in range(2):
            self.visitor.client.get(PROFILE, base_url=self.visitor.home)

    def suspend(self) -> None:
        """Suspend the tenant, as `gatehouse` does in another process."""
        where = tenants.c.tenant_id == self.world.tenant_id
        with UnitOfWork(self.world.services.database, self.world.tenant_id).separate_transaction() as work:
            work.run(update(tenants).where(where).values(is_active=False, version=tenants.c.version + 1))
        self.world.services.directory.clear_cache()

    def ago(self, **much: float) -> Any:
        return self.world.services.clock.now() - timedelta(**much)


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(**EVERYTHING)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace", BirthDate="12-10-1815", Company="<b>")


@pytest.fixture
def scene(world: World, ada: Person, visitor: Visitor, compared: Comparison, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(KeptPages, "asked", lambda *_: None)  # would answer the second of two requests alike
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    assert visitor.session_cookie()
    return Scene(world, ada, visitor, compared)


STATES: dict[str, Callable[[Scene], object]] = {
    "signed in": lambda scene: None,
    "signed out": lambda scene: scene.visitor.forget(""),
    "an unknown session": lambda scene: scene.visitor.set_session_cookie("of-nobody"),
    "expired": lambda scene: scene.change_sessions(expires_at=scene.ago(seconds=1)),
    "idle": lambda scene: scene.change_sessions(seen_at=scene.ago(days=2), is_remembered=False),
    "ended by another browser": lambda scene: scene.end_sessions(),
    "signed in long ago": lambda scene: scene.change_sessions(authenticated_at=scene.ago(hours=3)),
    "a policy to accept": lambda scene: scene.world.change_settings(privacy_policy=POLICY),
    "a second factor to add": lambda scene: scene.world.change_settings(two_factor="required"),
    "everything off": lambda scene: scene.world.change_settings(
        two_factor="disabled",
        passkeys=False,
        organizations={"enabled": False},
        security_questions={},
        pin={"is_on": False},
    ),
    "blocked": lambda scene: scene.ada.close(),
    "being deleted": lambda scene: scene.ada.set_columns(is_deleted=True),
    "not allowed to sign in": lambda scene: scene.ada.set_columns(login_disabled=True),
    "an Arabic account": lambda scene: scene.ada.set_columns(profile={"LocalLanguage": "ar"}),
}


def assert_alike(scene: Scene, paths: Iterable[str], query: str = "", **headers: str) -> None:
    for path in paths:
        direct, _ = scene.asked(path + query, headers)
        status = direct.response.status_code
        assert status >= 400 or not direct.is_by_flask, (path, status)


@pytest.mark.parametrize("state", STATES)
def test_every_page_is_answered_alike(scene: Scene, state: str, caplog: pytest.LogCaptureFixture) -> None:
    STATES[state](scene)
    scene.notice_change()
    assert_alike(scene, VIEWS)
    assert "direct_answer.broke" not in caplog.text


def test_suspended_tenant_has_no_page(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.suspend()
    assert_alike(scene, VIEWS)  # by the copy from before: what a page asks for is refused
    assert {scene.asked(path)[0].response.status_code for path in (PROFILE, SECURITY, "/confirm")} == {404}
    monkeypatch.setattr("app.hub.tenancy.FRESH_SECONDS", -1)
    for path in VIEWS:
        direct, _ = scene.asked(path)
        assert (direct.is_by_flask, direct.response.status_code, direct.calls) == (True, 404, []), path


HEADERS: dict[str, dict[str, str]] = {
    "Arabic": {"Accept-Language": "ar"},
    "gzip": {"Accept-Encoding": "br, gzip"},
    "a long agent": {"User-Agent": "x" * 1_000},
    "a prefetch": {"Sec-Purpose": "prefetch"},
    "from another site": {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
}


def test_headers_of_the_browser_count_alike(scene: Scene, subtests: pytest.Subtests) -> None:
    for name, headers in HEADERS.items():
        with subtests.test(name):
            assert_alike(scene, SOME, **headers)


def test_cookies_of_the_browser_count_alike(scene: Scene, subtests: pytest.Subtests) -> None:
    for name, cookies in COOKIES.items():
        if name != "a session":
            with subtests.test(name):
                assert_alike(scene, SOME, **scene.page.with_cookies(**cookies).headers)


QUERIES = (
    "lang=de", "lang=ar", "lang=xx", "language=de", "done=added", "done=unknown", "landing=refused", "saved=1&x=%C3%BC", "kind=totp",
    "kind=", "id=1&done=ended", "changed=password", "attempt=unknown", "attempt=", "vtoken=abc", "sent=1", "page=2", "next=%2Femails",
)  # fmt: skip


def test_parameters_of_the_address_count_alike(scene: Scene, subtests: pytest.Subtests) -> None:
    for query in QUERIES:
        with subtests.test(query):
            assert_alike(scene, SOME, f"?{query}")


@pytest.mark.parametrize("is_signed_in", [True, False], ids=["signed in", "signed out"])
def test_pages_of_an_interaction_are_alike(scene: Scene, world: World, *, is_signed_in: bool) -> None:
    shop = world.application("shop", client_name="Acme Shop", client_uri="https://shop.example/", require_consent=True)
    if not is_signed_in:
        scene.visitor.forget("session")
    shown = scene.visitor.authorize(shop)
    assert shown.query["attempt"]
    assert_alike(scene, VIEWS, f"?attempt={shown.query['attempt']}&lang=ar")


UNUSUAL: dict[str, dict[str, Any]] = {
    "twice": {"path": f"{PROFILE}?saved=1&saved=2"},
    "not UTF-8": {"path": f"{PROFILE}?saved=%FF"},
    "not encoded": {"QUERY_STRING": "saved=\u00c3\u00bc"},
    "a slash": {"path": f"{PROFILE}/"},
    "a body": {"CONTENT_LENGTH": "3"},
    "a full queue": {SHED: Shed(429, 3)},
    "the head alone": {"method": "HEAD"},
    "its options": {"method": "OPTIONS"},
    "another method": {"method": "DELETE"},
    "an unknown page": {"path": "/profile/unknown"},
}


def test_unusual_request_is_for_flask(scene: Scene, subtests: pytest.Subtests) -> None:
    for name, unusual in UNUSUAL.items():
        with subtests.test(name):
            direct, _ = scene.asked(**{"path": PROFILE, **unusual})
            assert direct.is_by_flask


@pytest.mark.parametrize("is_known", [True, False], ids=["due to be checked", "unknown host"])
def test_tenant_that_must_be_asked_for_is_for_flask(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    if is_known:
        monkeypatch.setattr("app.hub.tenancy.FRESH_SECONDS", -1)
    else:
        scene.compared.base_url = "http://nobody-here.localhost:8000"
    direct, _ = scene.asked(PROFILE)
    assert direct.is_by_flask


ERRORS = (
    e.NotAuthenticated(), e.TooManyRequests(retry_after_seconds=5), e.BadParameter.names("id"), e.UnknownTenant(), e.TwoFactorOff(),
    ServiceUnavailable(), ServiceUnavailable(500, "a reference"), AccountChanged(), ZeroDivisionError(),
)  # fmt: skip


def test_every_error_is_shown_alike(scene: Scene, subtests: pytest.Subtests) -> None:
    for error in ERRORS:
        scene.compared.failing = error
        with subtests.test(repr(error)):
            for path in (
                PROFILE,
                SECURITY,
                "/second-factors",
                "/passkeys",
                "/applications",
                "/organizations",
                "/confirm",
            ):
                direct, _ = scene.asked(path)
                assert len(direct.calls) == len({call.operation for call in direct.calls}), f"{path}: none twice"


def test_theme_and_application_are_shown_alike(scene: Scene, world: World) -> None:
    shop = world.application("shop", client_name="Acme & Söhne", client_uri="https://shop.example/")
    scene.visitor.authorize(shop)
    world.change_brand(
        color="#aa3300", logo="https://pictures.example/logo.svg", font_file="/theme/font.woff2", links={"help": "https://a.example/%s"},
        sentence={"en": "100 %", "ar": "مرحبا"},
    )  # fmt: skip
    scene.notice_change()
    for language in ("en", "ar"):
        assert_alike(scene, SOME, **{"Accept-Language": language})


def test_broken_direct_page_is_logged_and_answered(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_after_the_call() -> Any:
        before()
        raise ZeroDivisionError

    before = VIEWS[PROFILE]
    monkeypatch.setitem(VIEWS, PROFILE, break_after_the_call)
    direct, _ = scene.asked(PROFILE)
    assert direct.is_by_flask
    assert direct.response.status_code == 200
    assert len(direct.calls) == 1
    assert "direct_answer.broke" in caplog.text
