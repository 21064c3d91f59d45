"""Offer of a passkey after a sign-in; "not now" defers the offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from flask import Response

from app.contract.passkeys import passkey_pages
from app.hub import journey
from app.hub.client.identity_client import SignInRequired
from app.hub.forms.passkey import FAILED, PASSKEY_REFUSALS, SCRIPTLESS, CredentialForm, read_credential
from app.hub.pages import pages
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/passkeys/offer"


@dataclass(frozen=True)
class PasskeyOfferPage(Page):
    """Offers to create a passkey."""

    template = "pages/security/passkey_offer.html"
    own_rules = ("points",)
    scripts = (*Page.scripts, "passkey")
    allows_fetch = True
    refusals = {ApiError: FAILED, **PASSKEY_REFUSALS}

    form: CredentialForm
    is_local: bool = False
    relying_party: str = ""
    account: str = ""
    """The label of the account."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @property
    def host(self) -> str:
        """The host where the passkey works."""
        return current_visit().host.partition(":")[0]

    @classmethod
    def samples(cls) -> Mapping[str, PasskeyOfferPage]:
        offer = cls(CredentialForm(), relying_party="Acme Shop", account="ada@example.com")
        return {
            "after a password": offer,
            "of this device": replace(offer, is_local=True),
            "without a script": replace(offer, page_notice=SCRIPTLESS),
        }


@pages.get(PATH)
def show_passkey_offer() -> Response:
    visit = current_visit()
    interaction_id = visit.interaction_id
    offer = api()(passkey_pages.read_offer, passkey_pages.PasskeyOfferRequest(interaction_id=interaction_id))
    if offer.next is not None:
        return journey.follow(offer.next)
    visit.use_account_language(offer.person)
    return _page(is_local=offer.is_local, account=offer.person.label if offer.person else "").render()


@pages.post(PATH)
def submit_passkey_offer() -> Response:
    visit = current_visit()
    form = CredentialForm()
    is_local = visit.form.get("local") == "1"
    if not form.validate():
        return _page(form, is_local=is_local, account=_account()).render(form.error_status)
    credential = None
    if visit.form.get("do") != "skip":
        credential = read_credential(form)
        if credential is None:
            return replace(_page(is_local=is_local, account=_account()), page_notice=SCRIPTLESS).render(422)
    interaction_id = visit.interaction_id
    try:
        return journey.follow(
            api()(
                passkey_pages.answer_offer,
                passkey_pages.PasskeyOfferAnswer(interaction_id=interaction_id, credential=credential),
            )
        )
    except ApiError as refusal:
        return _page(is_local=is_local, account=_account()).render_refusal(refusal)


def _account() -> str:
    """Return the label of the account, for a page that is rendered again."""
    try:
        offer = api()(
            passkey_pages.read_offer, passkey_pages.PasskeyOfferRequest(interaction_id=current_visit().interaction_id)
        )
    except SignInRequired:
        return ""
    return offer.person.label if offer.person else ""


def _page(form: CredentialForm | None = None, *, is_local: bool = False, account: str = "") -> PasskeyOfferPage:
    relying_party = current_visit().relying_party
    return PasskeyOfferPage(form or CredentialForm(formdata=None), is_local, relying_party, account)
