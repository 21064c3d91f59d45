"""After a sign-in: a passkey for the next time? Whoever says "not now" is asked again after a while."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response, request

from app.contract import errors as e
from app.contract import hub_passkeys as contract
from app.hub import callback, journey, visit
from app.hub.arrival import api
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.passkey_forms import SCRIPTLESS, CredentialForm, given, notice_of
from app.kit.errors import ApiError

ADDRESS: Final = "/passkeys/offer"


@dataclass(frozen=True)
class PasskeyOfferPage(Page):
    """Easier next time?"""

    template = "pages/passkey_offer.html"
    scripts = (*Page.scripts, "passkey")
    calls_home = True

    form: CredentialForm
    is_local: bool = False
    relying_party: str = ""
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, PasskeyOfferPage]:
        return {
            "after a password": cls(CredentialForm(), relying_party="Acme Shop"),
            "of this device": cls(CredentialForm(), is_local=True, relying_party="Acme Shop"),
            "without a script": cls(CredentialForm(), problem=SCRIPTLESS),
        }


@pages.get(ADDRESS)
def show_passkey_offer() -> Response:
    here = visit.current()
    attempt = here.attempt.id if here.attempt else None
    try:
        offer = api()(contract.read_offer, contract.OfferRead(attempt=attempt))
    except e.NotAuthenticated:
        return callback.begin("/profile")
    if offer.next is not None:
        return journey.follow(offer.next)
    here.meet(offer.person)
    return _page(is_local=offer.is_local).render()


@pages.post(ADDRESS)
def submit_passkey_offer() -> Response:
    here = visit.current()
    form = CredentialForm()
    is_local = request.form.get("local") == "1"
    if not form.validate():
        return _page(form, is_local=is_local).render(form.refusal_status)
    credential = None
    if request.form.get("do") != "skip":
        credential = given(form)
        if credential is None:
            return _page(is_local=is_local, problem=SCRIPTLESS).render(422)
    attempt = here.attempt.id if here.attempt else None
    try:
        return journey.follow(
            api()(contract.answer_offer, contract.OfferAnswer(attempt=attempt, credential=credential))
        )
    except e.NotAuthenticated:
        return callback.begin("/profile")
    except ApiError as refusal:
        return _page(is_local=is_local, problem=notice_of(refusal)).render(refusal.status)


def _page(
    form: CredentialForm | None = None, *, is_local: bool = False, problem: Notice | None = None
) -> PasskeyOfferPage:
    attempt = visit.current().attempt
    asking = attempt.relying_party if attempt else ""
    return PasskeyOfferPage(form or CredentialForm(formdata=None), is_local, asking, problem)
