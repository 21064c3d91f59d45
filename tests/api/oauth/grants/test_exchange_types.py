"""Token exchange (RFC 8693): the types that it issues, tokens that are bound to their sender, and who may be the actor."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.applications.file import TOKEN_EXCHANGE
from app.identity.protocols.oauth.tokens.subject_tokens import ACCESS_TOKEN, ID_TOKEN, JWT, REFRESH_TOKEN
from tests.api.oauth.sender_constraints.test_mtls import proxied
from tests.support.oauth.client_certificates import certificate, self_signed
from tests.support.oauth.dpop import Prover
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in, moved
from tests.support.oauth.token_exchange import change_token, error, exchanged, frontend, good, orders, signed_in
from tests.support.oauth.world import World

__all__ = ["frontend", "orders", "proxied"]
OWN = ["authorization_code", "refresh_token", "client_credentials", TOKEN_EXCHANGE]
SCOPE = "openid profile email offline_access"


class TestIdTokens:
    """`requested_token_type` id_token: who the subject is, for the client itself."""

    def test_client_gets_an_id_token_that_names_it(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        """(RFC 8693 section 2.2.1)"""
        stored = signed_in(world, frontend, ada)
        body = good(exchanged(orders, stored["access_token"], requested_token_type=ID_TOKEN, scope="openid email"))
        assert (body["issued_token_type"], body["token_type"], body["scope"]) == (ID_TOKEN, "N_A", "openid email")
        assert {"refresh_token", "id_token"}.isdisjoint(body)
        claims, first = claims_in(body["access_token"]), claims_in(stored["id_token"])
        assert (claims["sub"], claims["aud"], claims["iss"]) == (ada.uid, "orders", orders.issuer)
        assert (claims["email"], claims["act"]) == (ada.email, {"sub": "orders@client"})
        assert (claims["sid"], claims["auth_time"], claims["amr"]) == tuple(
            first[n] for n in ("sid", "auth_time", "amr")
        )
        assert "given_name" not in claims, "the scope profile was not asked for"
        assert claims["exp"] <= claims_in(stored["access_token"])["exp"]
        assert orders.userinfo(body["access_token"]).status_code == 401, "it opens nothing"
        assert orders.introspect(body["access_token"]) == {"active": False}

    def test_id_token_ends_no_later_than_what_it_is_for(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        world.change(frontend, access_token_seconds=60)
        token = signed_in(world, frontend, ada)["access_token"]
        body = good(exchanged(orders, token, requested_token_type=ID_TOKEN))
        assert body["expires_in"] <= 60
        assert claims_in(body["access_token"])["exp"] <= claims_in(token)["exp"]

    def test_id_token_is_for_the_client_and_needs_openid(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        token = signed_in(world, frontend, ada)["access_token"]

        def refused_with(**changed: str) -> tuple[int, str]:
            return error(exchanged(orders, token, requested_token_type=ID_TOKEN, **changed))

        assert refused_with(audience="https://stock.example/api") == (400, "invalid_target")
        assert refused_with(resource="https://stock.example/api") == (400, "invalid_target")
        assert refused_with(audience="front") == (400, "invalid_target")
        assert refused_with(scope="email") == (400, "invalid_scope")
        assert refused_with(audience="orders") == (200, "tokens")

    def test_actors_of_an_exchanged_id_token_stay(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        """A pairwise client knows an actor by an identifier that no other client knows (OpenID Connect Core section 8.1)."""
        bob = world.person("bob@example.test")
        world.change(orders, subject_type="pairwise", sector_identifier_uri="https://orders.example/s.json")
        actor = signed_in(world, frontend, bob)["access_token"]
        stored = signed_in(world, frontend, ada)["access_token"]
        acting = {"actor_token": actor, "actor_token_type": ACCESS_TOKEN}
        first = good(exchanged(orders, stored, requested_token_type=ID_TOKEN, **acting))["access_token"]
        named = claims_in(first)
        assert named["act"]["sub"] not in (bob.uid, ada.uid)
        assert named["sub"] != ada.uid
        again = good(exchanged(orders, first, ID_TOKEN, requested_token_type=ID_TOKEN))["access_token"]
        assert claims_in(again)["act"] == named["act"], "its own token gets no further actor"
        assert claims_in(again)["sub"] == named["sub"]

    def test_id_token_of_an_ended_session_is_not_issued(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        browser = world.browser()
        stored = good(frontend.redeem(browser.code(frontend, ada)))
        browser.sign_out(client_id=frontend.client_id, confirmed=True)
        answer = exchanged(orders, stored["access_token"], requested_token_type=ID_TOKEN)
        assert error(answer) == (400, "invalid_request")

    @pytest.mark.parametrize(
        "kind", [REFRESH_TOKEN, "urn:ietf:params:oauth:token-type:saml2", "id_token", "", "x" * 5_000]
    )
    def test_type_that_is_not_issued_is_refused(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person, kind: str
    ) -> None:
        """A refresh token would outlive the presented token (RFC 8693 section 2.2.1)."""
        token = signed_in(world, frontend, ada, scope=SCOPE)["access_token"]
        answer = exchanged(orders, token, requested_token_type=kind)
        assert error(answer)[0] == 400 or kind == "", answer.text

    def test_jwt_is_for_applications_with_such_tokens(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        token = signed_in(world, frontend, ada)["access_token"]
        assert good(exchanged(orders, token, requested_token_type=JWT))["issued_token_type"] == JWT
        world.change(orders, access_token_format="opaque")
        assert error(exchanged(orders, token, requested_token_type=JWT)) == (400, "invalid_request")


class TestExchangedBoundTokens:
    """A token with `cnf` is exchanged by the holder of its key, and the new token is bound to the same key."""

    @pytest.fixture
    def shop(self, world: World) -> RelyingParty:
        return world.application("own", grant_types=OWN, access_token_format="jwt", may_act=["orders"])

    def form(self, client: RelyingParty, token: str, kind: str = ACCESS_TOKEN, **more: str) -> dict[str, Any]:
        form = {"grant_type": TOKEN_EXCHANGE, "subject_token": token, "subject_token_type": kind}
        return {**form, **client.client_credentials(), **more}

    def test_dpop_key_is_proven(self, world: World, shop: RelyingParty, orders: RelyingParty, ada: Person) -> None:
        """(RFC 9449 section 5)"""
        holder, thief = Prover(shop), Prover(shop)
        stored = holder.bound(world.browser(), ada, scope=SCOPE)["access_token"]
        answer = holder.post("token", self.form(shop, stored))
        body = good(answer)
        assert (body["token_type"], claims_in(body["access_token"])["cnf"]) == ("DPoP", {"jkt": holder.thumbprint})
        for refused in (
            exchanged(shop, stored),
            thief.post("token", self.form(shop, stored)),
            exchanged(orders, stored),
            Prover(orders).post("token", self.form(orders, stored)),
        ):
            assert error(refused) == (400, "invalid_request")
        stolen = Prover(orders, key=holder.key)
        assert good(stolen.post("token", self.form(orders, stored)))["token_type"] == "DPoP", "who has the key may"

    def test_bearer_token_may_become_bound(self, world: World, shop: RelyingParty, ada: Person) -> None:
        prover = Prover(shop)
        stored = signed_in(world, shop, ada)["access_token"]
        body = good(prover.post("token", self.form(shop, stored)))
        assert claims_in(body["access_token"])["cnf"] == {"jkt": prover.thumbprint}

    def test_bound_actor_token_is_proven(self, world: World, shop: RelyingParty, ada: Person) -> None:
        bob, prover = world.person("bob@example.test"), Prover(shop)
        actor = prover.bound(world.browser(), bob)["access_token"]
        stored = signed_in(world, shop, ada)["access_token"]
        acting = {"actor_token": actor, "actor_token_type": ACCESS_TOKEN}
        assert error(exchanged(shop, stored, **acting)) == (400, "invalid_request")
        assert error(Prover(shop).post("token", self.form(shop, stored, **acting))) == (400, "invalid_request")
        assert claims_in(good(prover.post("token", self.form(shop, stored, **acting)))["access_token"])["act"] == {
            "sub": bob.uid
        }

    def test_refresh_token_of_a_confidential_client_needs_some_key(
        self, world: World, shop: RelyingParty, ada: Person
    ) -> None:
        """Its authentication binds it, so the key may change, but does not go (RFC 9449 section 5)."""
        holder, newer = Prover(shop), Prover(shop)
        stored = holder.bound(world.browser(), ada, scope=SCOPE)["refresh_token"]
        assert error(exchanged(shop, stored, REFRESH_TOKEN)) == (400, "invalid_request")
        body = good(newer.post("token", self.form(shop, stored, REFRESH_TOKEN)))
        assert claims_in(body["access_token"])["cnf"] == {"jkt": newer.thumbprint}

    def test_certificate_is_presented(self, world: World, proxied: None, ada: Person) -> None:
        """(RFC 8705 section 3) The new token is bound too, whatever the client's setting says."""
        ours, other = certificate(), certificate()
        shop = self_signed(
            world, ours, other, tls_client_certificate_bound_access_tokens=True, access_token_format="jwt"
        )
        world.change(shop, grant_types=OWN)
        code = world.browser().code(shop, ada)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": shop.redirect_uri,
            "client_id": shop.client_id,
        }
        stored = good(shop.back("token", form, environ_overrides=ours.environ()))["access_token"]
        cnf = claims_in(stored)["cnf"]
        world.change(shop, tls_client_certificate_bound_access_tokens=False)
        form = self.form(shop, stored) | {"client_id": shop.client_id}
        body = good(shop.back("token", form, environ_overrides=ours.environ()))
        assert claims_in(body["access_token"])["cnf"] == cnf
        assert error(shop.back("token", form, environ_overrides=other.environ())) == (400, "invalid_request")

    def test_unknown_binding_is_refused(self, world: World, shop: RelyingParty, ada: Person) -> None:
        stored = signed_in(world, shop, ada)["access_token"]
        change_token(world, stored, facts={"cnf": {"kid": "x"}})
        assert error(Prover(shop).post("token", self.form(shop, stored))) == (400, "invalid_request")


class TestActors:
    """(RFC 8693 section 4.4)"""

    def acting(self, actor: str) -> dict[str, str]:
        return {"actor_token": actor, "actor_token_type": ACCESS_TOKEN}

    def machine(self, client: RelyingParty) -> str:
        form = {"grant_type": "client_credentials", **client.client_credentials()}
        return str(good(client.back("token", form))["access_token"])

    def test_client_is_the_actor_where_the_application_names_it(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        stock = world.application("stock", client_id="stock", redirect_uris=[], grant_types=OWN[2:], may_act=["orders"])
        stored, actor = signed_in(world, frontend, ada)["access_token"], self.machine(stock)
        assert error(exchanged(orders, stored, **self.acting(actor))) == (400, "invalid_request"), (
            "front does not name it"
        )
        world.change(frontend, may_act=["orders", "stock"])
        body = good(exchanged(orders, stored, **self.acting(actor)))
        assert claims_in(body["access_token"])["act"] == {"sub": "stock@client"}
        own = good(exchanged(orders, stored, **self.acting(self.machine(orders))))
        assert claims_in(own["access_token"])["act"] == {"sub": "orders@client"}

    def test_actor_of_another_client_is_refused(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        stock = world.application("stock", client_id="stock", redirect_uris=[], grant_types=OWN[2:])
        world.change(frontend, may_act=["orders", "stock"])
        stored = signed_in(world, frontend, ada)["access_token"]
        assert error(exchanged(orders, stored, **self.acting(self.machine(stock)))) == (400, "invalid_request")
        assert error(exchanged(orders, self.machine(orders))) == (400, "invalid_request"), "no account's token"

    def test_expired_actor_token_is_refused(
        self, world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
    ) -> None:
        world.change(orders, access_token_seconds=60)
        actor = self.machine(orders)
        stored = signed_in(world, frontend, ada)["access_token"]
        with moved(world.services, minutes=2):
            assert error(exchanged(orders, stored, **self.acting(actor))) == (400, "invalid_request")
