"""Two authorization requests in a row, in every order: the second has the same answer as alone (decision 0313).

The table has each kind of request after each kind, for clients that demand nothing, a signature, a push or both, at both issuers,
public and confidential, in the same and in other browsers, with the first one also of another client, issuer or tenant. Half of
the cases of each demand are asked, as the fields of one color of a chessboard: any five of the six properties (the two kinds, the first
one's client, the browsers, the secret, the issuer) are there in every combination.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import pytest

from app.contract.steps import LoginStep
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, claims_in, code_of, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.answered_step import AnsweredStep

KINDS: Final = ("plain", "pushed", "signed", "pushed signed")
CODE: Final = ("code", "")
MUST_SIGN: Final = ("invalid_request", "This client must send a signed request object.")
MUST_PUSH: Final = ("invalid_request", "This client must push its authorization requests.")
NOTHING: Final[Mapping[str, bool]] = {}
SIGNATURE: Final = {"require_signed_request_object": True}
PUSH: Final = {"require_pushed_authorization_requests": True}
DEMANDS: Final[Mapping[str, tuple[Mapping[str, bool], tuple[tuple[str, str], ...]]]] = {
    "nothing": (NOTHING, (CODE, CODE, CODE, CODE)),
    "signature": (SIGNATURE, (MUST_SIGN, MUST_SIGN, CODE, CODE)),
    "push": (PUSH, (MUST_PUSH, CODE, MUST_PUSH, CODE)),
    "both": (SIGNATURE | PUSH, (MUST_PUSH, MUST_SIGN, MUST_PUSH, CODE)),
}
"""What a client demands: its settings, and what each of `KINDS` gets at it."""
FIRST_OF: Final = ("the same client", "its other issuer", "another client", "another tenant")
BROWSERS: Final = ("the same browser", "another signed-in browser", "another browser, which waits")


@dataclass
class Request:
    """One authorization request, with values of its own."""

    kind: str
    client: RelyingParty
    mark: str
    pkce: Pkce = field(default_factory=Pkce)

    def send(self, browser: Browser) -> AnsweredStep | tuple[str, str]:
        """Send it as its kind is sent; return the step, or the refusal of the push."""
        own = {"state": f"state of {self.mark}", "nonce": self.mark, "code_challenge": self.pkce.challenge}
        sent: dict[str, str | None] = self.client.authorization_parameters(**own)
        if self.kind.endswith("signed"):
            text = Signer(self.client).request_object(**own)
            sent = {**dict.fromkeys(sent), "client_id": self.client.client_id, "request": text}
        if self.kind.startswith("pushed"):
            answer = self.client.push(**sent)
            body = answer.json or {}
            if answer.status_code != 201:
                assert answer.status_code == 400
                return body["error"], body["error_description"]
            sent = {"client_id": self.client.client_id, "request_uri": body["request_uri"]}
        return browser.authorize(sent, app=self.client.app, protocol=self.client.protocol)

    def result_of(self, answer: AnsweredStep | tuple[str, str]) -> tuple[str, str]:
        """Return `CODE` or the error; a response must be that of this request and no other, and its code redeemable."""
        if isinstance(answer, tuple):
            return answer
        assert (answer.address or "").startswith(self.client.redirect_uri)
        stored = parameters_of(answer)
        assert (stored["state"], stored["iss"]) == (f"state of {self.mark}", self.client.issuer)
        if "error" in stored:
            assert "code" not in stored
            return stored["error"], stored["error_description"]
        tokens = self.client.redeem(code_of(answer), code_verifier=self.pkce.verifier).json or {}
        assert claims_in(tokens["id_token"])["nonce"] == self.mark
        return CODE


@dataclass
class CallPlace:
    """A tenant with a person, who is signed in to a browser."""

    world: World
    person: Person
    session: str | None

    @classmethod
    def of(cls, world: World) -> CallPlace:
        person = world.person(f"ada@{world.name}.test")
        return cls(world, person, world.browser().signed_in(person).session)

    def browser(self, address: str, *, signed_in: bool) -> Browser:
        return replace(self.world.browser(), address=address, session=self.session if signed_in else None)


@dataclass
class RequestPair:
    """The first request with its browser, and what each of the four kinds gets at its client."""

    first: Request
    first_browser: Browser
    first_person: Person
    first_answers: tuple[tuple[str, str], ...]
    second: Request
    second_browser: Browser

    def check(self, answers: tuple[tuple[str, str], ...]) -> None:
        """Send both; each must be answered as alone, whether or not the first waits for its person."""
        waiting = self.first.send(self.first_browser)
        is_waiting = isinstance(waiting, AnsweredStep) and waiting.kind is LoginStep
        expected = self.first_answers[KINDS.index(self.first.kind)]
        assert is_waiting == (expected == CODE and self.first_browser.session is None)
        if not is_waiting:
            assert self.first.result_of(waiting) == expected
        result = self.second.result_of(self.second.send(self.second_browser))
        assert result == answers[KINDS.index(self.second.kind)]
        if isinstance(waiting, AnsweredStep) and is_waiting:
            signed_in = self.first_browser.sign_in(
                waiting.interaction_id, self.first_person.email, self.first_person.password
            )
            assert self.first.result_of(signed_in) == CODE


@dataclass
class Table:
    """Makes the cases of one client's settings, each with clients and addresses that no other case has."""

    here: CallPlace
    other_place: CallPlace
    settings: Mapping[str, bool]
    answers: tuple[tuple[str, str], ...]
    secret: str | None
    is_own_issuer: bool
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def client(self, place: CallPlace, name: str, settings: Mapping[str, bool]) -> RelyingParty:
        keys = public_jwks(client_key("ES256"))
        made = place.world.application(name, secret=self.secret, client_id=name, jwks=keys, **settings)
        return made.at_own_issuer() if self.is_own_issuer else made

    def case(self, first: str, second: str, first_of: str, browsers: str) -> RequestPair:
        number = next(self.numbers)
        address = f"10.0.{number // 250}.{number % 250 + 1}"
        client = replace(self.client(self.here, f"client-{number}", self.settings), address=address)
        other, place, answers = client, self.here, self.answers
        if first_of == "its other issuer":
            other = replace(client, app=None) if client.app else client.at_own_issuer()
        if first_of == "another client":
            other, answers = self.client(self.here, f"other-{number}", NOTHING), DEMANDS["nothing"][1]
        if first_of == "another tenant":
            other, answers = self.client(self.other_place, client.client_id, NOTHING), DEMANDS["nothing"][1]
            place = self.other_place
        browser = self.here.browser(address, signed_in=True)
        is_same = browsers == BROWSERS[0] and place is self.here
        other_browser = browser if is_same else place.browser(address, signed_in=browsers != BROWSERS[2])
        return RequestPair(
            Request(first, other, f"first {number}"), other_browser, place.person, answers,
            Request(second, client, f"second {number}"), browser,
        )  # fmt: skip


def enumerated(*lists: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each combination, with the sum of its places in the lists."""
    for pairs in itertools.product(*map(enumerate, lists)):
        places, names = zip(*pairs, strict=True)
        yield sum(places), names


def test_half_of_the_cases_has_all_of_any_five_properties() -> None:
    lists = (KINDS, KINDS, FIRST_OF, BROWSERS, ("public", "confidential"), ("tenant", "application"))
    asked = [names for number, names in enumerated(*lists) if number % 2 == 0]
    assert len(asked) == 4 * 4 * 4 * 3 * 2 * 2 / 2
    for left_out in range(len(lists)):
        seen = {names[:left_out] + names[left_out + 1 :] for names in asked}
        assert seen == {*itertools.product(*lists[:left_out], *lists[left_out + 1 :])}


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("is_own_issuer", [False, True], ids=["tenant", "application"])
@pytest.mark.parametrize("secret", [None, "a secret of the client"], ids=["public", "confidential"])
@pytest.mark.parametrize("demands", DEMANDS)
def test_second_request_is_answered_as_alone(
    new_world: NewWorld, subtests: pytest.Subtests, demands: str, secret: str | None, is_own_issuer: bool
) -> None:
    table = Table(CallPlace.of(new_world()), CallPlace.of(new_world()), *DEMANDS[demands], secret, is_own_issuer)
    of_client = bool(secret) + is_own_issuer
    for number, names in enumerated(KINDS, KINDS, FIRST_OF, BROWSERS):
        if (number + of_client) % 2:
            continue
        with subtests.test("{} then {}, first of {}, {}".format(*names)):
            table.case(*names).check(table.answers)
