"""Request objects: the parameters of an authorization request as a signed JWT (RFC 9101)."""

import json
from datetime import timedelta
from typing import Any

import pytest
from joserfc.jwk import OctKey

from app.contract.steps import FormPostStep, RedirectStep, RefusedStep
from app.kit import randomness
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, code_of, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, part, public_jwks
from tests.support.oauth.world import World

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA", "Ed25519")
CALLBACK = "https://shop.example/cb"


@pytest.fixture
def signing(world: World) -> RelyingParty:
    """A client with a key for each algorithm."""
    keys = (client_key("RS256"), client_key("ES256"), client_key("EdDSA"))
    # the keys share one id, so that each is tried, as at a client that does not name its keys
    return world.application("signing", jwks=public_jwks(*keys, client_key("PS256")))


@pytest.fixture
def signer(signing: RelyingParty) -> Signer:
    return Signer(signing)


def refused(step: Any) -> tuple[str, str | None]:
    stored = parameters_of(step)
    assert "code" not in stored
    return stored["error"], stored.get("state")


def requesting(client: RelyingParty, text: str, **changed: str | None) -> dict[str, str | None]:
    """Return a request that has its parameters in the object alone."""
    return {"client_id": client.client_id, "request": text, **changed}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_signed_request_object_is_honoured(
    signing: RelyingParty, browser: Browser, ada: Person, algorithm: str
) -> None:
    text = Signer(signing, algorithm).request_object(state="signed", response_mode="form_post", nonce="n", max_age=600)
    step = browser.signed_in(ada).authorize(requesting(signing, text))
    assert (step.kind, step.fields["state"]) == (FormPostStep, "signed")
    body = signing.redeem(step.fields["code"]).json or {}
    assert body["scope"] == "openid profile email"


def test_parameters_beside_the_object_do_not_count(
    signing: RelyingParty, signer: Signer, browser: Browser, ada: Person
) -> None:
    """RFC 9101 section 6.3: only signed parameters count, even if the same parameter is in the query."""
    beside = {"scope": "openid", "state": "unsigned", "nonce": "unsigned", "prompt": "login", "max_age": "x"}
    claims = {"claims": {"id_token": {"email": None}}}
    step = browser.signed_in(ada).authorize(requesting(signing, signer.request_object(**claims), **beside))
    assert parameters_of(step)["state"] == "a state"
    body = signing.redeem(code_of(step)).json or {}
    assert body["scope"] == "openid profile email"
    pairs = [(name, str(value)) for name, value in requesting(signing, signer.request_object()).items()]
    twice = browser.authorize([*pairs, ("scope", "x"), ("scope", "y")])
    assert "code" in parameters_of(twice), "what does not count may come twice"


def test_redirect_uri_of_the_object_must_be_registered(
    signing: RelyingParty, signer: Signer, browser: Browser, ada: Person
) -> None:
    text = signer.request_object(redirect_uri="https://evil.example/")
    step = browser.signed_in(ada).authorize(requesting(signing, text, redirect_uri=CALLBACK))
    assert (step.kind, step.part, step.address) == (RefusedStep, "redirect_uri", None)


WRONG_CLAIMS: list[dict[str, Any]] = [
    {"client_id": "another"},
    {"iss": "another"},
    {"sub": "signing-client"},
    {"aud": "https://another.example"},
    {"aud": ["https://another.example", 7]},
    {"aud": {"x": 1}},
    {"exp": 1_000_000_000},
    {"exp": "never"},
    {"nbf": 99_999_999_999},
    {"iat": 99_999_999_999},
    {"request": "a.b.c"},
    {"request_uri": "https://shop.example/request.jwt"},
]


def test_object_with_wrong_claims_is_refused(
    world: World, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    client = world.application("named", client_id="signing-client", jwks=public_jwks(client_key("ES256")))
    browser.signed_in(ada)
    for changed in WRONG_CLAIMS:
        with subtests.test(str(changed)[:60]):
            text = Signer(client).request_object(**changed)
            step = browser.authorize(requesting(client, text))
            assert refused(step) == ("invalid_request_object", "a state")
            claim = next(iter(changed)).removesuffix("_uri")
            assert parameters_of(step)["error_description"] == f"The request object has a wrong {claim}."


def test_claims_absent_from_object_are_not_checked(
    signing: RelyingParty, signer: Signer, browser: Browser, ada: Person
) -> None:
    """OpenID Connect Core section 6.1 lets it leave these out."""
    bare = dict.fromkeys(("iss", "aud", "iat", "nbf", "exp", "client_id"))
    assert "code" in parameters_of(browser.signed_in(ada).authorize(requesting(signing, signer.request_object(**bare))))


@pytest.mark.parametrize(
    "header",
    [{"typ": "at+jwt"}, {"typ": "dpop+jwt"}, {"typ": 5}, {"crit": ["x"], "x": 1}, {"crit": []}],
    ids=str,
)
def test_object_of_another_kind_is_refused(
    signing: RelyingParty, signer: Signer, browser: Browser, ada: Person, header: dict[str, Any]
) -> None:
    signer.header = header
    step = browser.signed_in(ada).authorize(requesting(signing, signer.request_object()))
    assert refused(step) == ("invalid_request_object", "a state")


@pytest.mark.parametrize("kind", [None, "JWT", "jwt", "OAUTH-AUTHZ-REQ+JWT", "application/oauth-authz-req+jwt"])
def test_common_types_are_accepted(
    signing: RelyingParty, signer: Signer, browser: Browser, ada: Person, kind: str | None
) -> None:
    signer.header = {"typ": kind} if kind else {}
    assert "code" in parameters_of(browser.signed_in(ada).authorize(requesting(signing, signer.request_object())))


def test_forged_object_is_refused(
    world: World, signing: RelyingParty, signer: Signer, browser: Browser, ada: Person
) -> None:
    browser.signed_in(ada)
    text = signer.request_object()
    header, payload, signature = text.split(".")
    claims = signing.authorization_parameters()
    public = json.dumps(public_jwks(client_key("RS256"))["keys"][0])
    confused = Signer(signing, "HS256", OctKey.import_key(public, {"kid": "1"})).request_object()
    other = Signer(signing, "ES256", client_key("ES256", "another")).request_object()
    forged = [
        f"{part({'alg': 'none'})}.{part(claims)}.",
        f"{part({'alg': 'none'})}.{part(claims)}.{signature}",
        f"{header}.{part({**claims, 'scope': 'openid'})}.{signature}",
        f"{header}.{payload}.{signature[:-4]}AAAA",
        f"{header}.{payload}.",
        f"{header}.{payload}.{signature}.x.y",
        confused,
        other,
        "x",
        "..",
        "W10.W10.W10",
        part({"alg": "ES256"}) + "." + "[" * 20_000 + ".x",
        "x" * 60_000,
    ]
    for item in forged:
        step = browser.authorize(requesting(signing, item, redirect_uri=CALLBACK, state="beside"))
        assert refused(step) == ("invalid_request_object", "beside"), item[:60]


def test_algorithm_must_be_the_registered_one(world: World, browser: Browser, ada: Person) -> None:
    keys = public_jwks(client_key("ES256"), client_key("RS256"))
    client = world.application("strict-alg", jwks=keys, request_object_signing_alg="ES256")
    browser.signed_in(ada)
    assert "code" in parameters_of(browser.authorize(requesting(client, Signer(client).request_object())))
    other = browser.authorize(requesting(client, Signer(client, "RS256").request_object()))
    assert refused(other)[0] == "invalid_request_object"


def test_client_that_must_sign_is_refused_without(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("must", jwks=public_jwks(client_key("ES256")), require_signed_request_object=True)
    browser.signed_in(ada)
    assert refused(browser.authorize(client.authorization_parameters())) == ("invalid_request", "a state")
    assert "code" in parameters_of(browser.authorize(requesting(client, Signer(client).request_object())))


@pytest.mark.both_databases
def test_key_of_another_tenant_or_client_is_refused(
    world: World, foreign_shop: RelyingParty, shop: RelyingParty, signer: Signer, browser: Browser, ada: Person
) -> None:
    other = world.application("other", jwks=public_jwks(client_key("ES256", "other")))
    browser.signed_in(ada)
    text = signer.request_object(client_id=None, iss=None)
    assert refused(browser.authorize(requesting(other, text)))[0] == "invalid_request_object"
    assert refused(browser.authorize(requesting(shop, text)))[0] == "request_not_supported"
    foreign = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name)
    assert "error" in parameters_of(foreign.authorize(requesting(foreign_shop, text)))


class TestByReference:
    """request_uri at an address that the client registered (RFC 9101 section 5.2)."""

    @pytest.fixture
    def address(self, fake_provider: FakeProvider) -> str:
        return f"{fake_provider.url}/request.jwt"

    @pytest.fixture
    def client(self, world: World, fake_provider: FakeProvider, address: str) -> RelyingParty:
        jwks_uri = f"{fake_provider.url}/keys"
        fake_provider.answers["/keys"] = (200, {}, json.dumps(public_jwks(client_key("ES256"))).encode())
        return world.application("by-reference", jwks_uri=jwks_uri, request_uris=[address])

    def test_registered_request_uri_is_read(
        self, client: RelyingParty, fake_provider: FakeProvider, address: str, browser: Browser, ada: Person
    ) -> None:
        fake_provider.answers["/request.jwt"] = (200, {}, Signer(client).request_object().encode())
        step = browser.signed_in(ada).authorize({"client_id": client.client_id, "request_uri": address})
        assert parameters_of(step)["state"] == "a state"
        assert client.redeem(code_of(step)).status_code == 200

    @pytest.mark.parametrize("kind", ["hash of the object", "hash of another object", "random"])
    @pytest.mark.parametrize("is_own", [False, True], ids=["tenant", "own issuer"])
    def test_registered_fragment_is_accepted(
        self, world: World, client: RelyingParty, fake_provider: FakeProvider, address: str, browser: Browser, ada: Person,
        kind: str, is_own: bool,
    ) -> None:  # fmt: skip
        """OpenID Connect Core section 6.2: the fragment signals a new version; no server must compare it."""
        asking = client.at_own_issuer() if is_own else client
        text, other = (Signer(asking).request_object(state=state) for state in ("a state", "other"))
        hashed = other if kind == "hash of another object" else text
        named = f"{address}#{randomness.digest(hashed) if kind != 'random' else 'x' * 43}"
        world.change(client, request_uris=[named])
        fake_provider.answers["/request.jwt"] = (200, {}, text.encode())
        step = browser.signed_in(ada).authorize({"client_id": client.client_id, "request_uri": named}, app=asking.app)
        assert asking.redeem(code_of(step)).status_code == 200

    def test_fragment_is_no_word_for_the_signature(
        self, world: World, client: RelyingParty, fake_provider: FakeProvider, address: str, browser: Browser
    ) -> None:
        """A writer of the file who lacks the client's key gets nothing by its hash."""
        forged = Signer(client, key=client_key("ES256", "another")).request_object()
        world.change(client, request_uris=[named := f"{address}#{randomness.digest(forged)}"])
        fake_provider.answers["/request.jwt"] = (200, {}, forged.encode())
        step = browser.authorize(client.authorization_parameters(request_uri=named))
        assert refused(step)[0] == "invalid_request_object"

    @pytest.mark.parametrize("registered", ["", f"#{'x' * 43}", "#one"])
    def test_unregistered_fragment_is_refused(
        self, world: World, client: RelyingParty, fake_provider: FakeProvider, address: str, browser: Browser, registered: str
    ) -> None:  # fmt: skip
        """The hash of the object itself is refused too, where the client did not register it."""
        world.change(client, request_uris=[address + registered])
        text = Signer(client).request_object()
        fake_provider.answers["/request.jwt"] = (200, {}, text.encode())
        for fragment in (f"#{randomness.digest(text)}", "#other", "#"):
            parameters = client.authorization_parameters(request_uri=address + fragment)
            assert refused(browser.authorize(parameters)) == ("invalid_request_uri", "a state")

    @pytest.mark.parametrize(
        ("changed", "error"),
        [
            ("?x=1", "invalid_request_uri"),
            ("/../request.jwt", "invalid_request_uri"),
            ("#x", "invalid_request_uri"),
        ],
    )
    def test_request_uri_must_be_registered_exactly(
        self, client: RelyingParty, address: str, browser: Browser, changed: str, error: str
    ) -> None:
        beside = client.authorization_parameters(request_uri=address + changed)
        assert refused(browser.authorize(beside)) == (error, "a state")

    @pytest.mark.parametrize(
        ("answer", "error"),
        [
            ((404, {}, b""), "invalid_request_uri"),
            ((302, {"Location": "https://evil.example/"}, b""), "invalid_request_uri"),
            ((200, {}, b"\xff\xfe"), "invalid_request_uri"),
            ((200, {}, b"x" * 300_000), "invalid_request_uri"),
            ((200, {}, b"<html>"), "invalid_request_object"),
            ((200, {}, b""), "invalid_request_object"),
        ],
    )
    def test_unreadable_request_uri_is_refused(
        self,
        client: RelyingParty,
        fake_provider: FakeProvider,
        address: str,
        browser: Browser,
        answer: tuple[int, dict[str, str], bytes],
        error: str,
    ) -> None:
        fake_provider.answers["/request.jwt"] = answer
        step = browser.authorize(client.authorization_parameters(request_uri=address))
        assert refused(step) == (error, "a state")

    def test_request_uri_without_return_address_gets_error_page(
        self, client: RelyingParty, address: str, browser: Browser
    ) -> None:
        step = browser.authorize({"client_id": client.client_id, "request_uri": f"{address}?"})
        assert (step.kind, step.address) == (RefusedStep, None)

    def test_both_parameters_or_a_repeated_one_are_refused(
        self, client: RelyingParty, address: str, browser: Browser
    ) -> None:
        text = Signer(client).request_object()
        both = browser.authorize(client.authorization_parameters(request_uri=address, request=text))
        assert refused(both) == ("invalid_request", "a state")
        pairs = [(name, str(value)) for name, value in client.authorization_parameters().items()]
        twice = browser.authorize([*pairs, ("request", text), ("request", text)])
        assert refused(twice) == ("invalid_request", "a state")

    def test_hanging_key_server_is_given_up(
        self, world: World, client: RelyingParty, fake_provider: FakeProvider, browser: Browser, ada: Person
    ) -> None:
        fake_provider.answers["/keys"] = (500, {}, b"")
        step = browser.signed_in(ada).authorize(requesting(client, Signer(client).request_object()))
        assert refused(step) == ("invalid_request_object", "a state")

    def test_new_key_is_read_by_its_id(
        self, client: RelyingParty, fake_provider: FakeProvider, browser: Browser, ada: Person
    ) -> None:
        browser.signed_in(ada)
        assert "code" in parameters_of(browser.authorize(requesting(client, Signer(client).request_object())))
        newer = client_key("ES256", "2")
        fake_provider.answers["/keys"] = (200, {}, json.dumps(public_jwks(newer)).encode())
        clock = fake_provider.services.clock
        fake_provider.services.provider_metadata._clock = LaterRequestObject(clock.now() + timedelta(minutes=2))
        text = Signer(client, key=newer).request_object()
        assert "code" in parameters_of(browser.authorize(requesting(client, text)))


class LaterRequestObject:
    """The time of the cache alone."""

    def __init__(self, at: Any) -> None:
        self.at = at

    def now(self) -> Any:
        return self.at


@pytest.mark.parametrize("state", ["\ud800", "a\x00b"], ids=ascii)
def test_text_that_no_database_stores_is_ignored(
    signing: RelyingParty, signer: Signer, browser: Browser, ada: Person, state: str
) -> None:
    """In an unsigned object, and in an object that the client signed."""
    stated = {**signing.authorization_parameters(), "state": state}
    unsigned = f"{part({'alg': 'none'})}.{part(stated)}."
    step = browser.authorize({"client_id": signing.client_id, "request": unsigned})
    assert refused(step) == ("invalid_request_object", None)
    step = browser.signed_in(ada).authorize(requesting(signing, signer.request_object(state=state)))
    assert step.kind is RedirectStep
    assert "state" not in parameters_of(step)
