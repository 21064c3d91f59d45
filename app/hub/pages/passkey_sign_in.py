"""Sign-in by a passkey: the page of sign-in shows the button, and its script asks here."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Response
from wtforms import BooleanField

from app.contract import errors as e
from app.contract import hub_passkeys as contract
from app.hub import journey
from app.hub.forms.passkey import CredentialForm, options_response, read_credential
from app.hub.pages import delete_account, login, pages
from app.hub.parts.sign_in_refusals import RefusalReason, reason_for
from app.hub.services import api
from app.hub.visit import current_visit, requested_interaction_id
from app.kit.errors import ApiError

ADDRESS = "/login/passkey"


class PasskeySignInForm(CredentialForm):
    """The passkey, and the box that the page has for the password, too."""

    remember = BooleanField()


@pages.post(f"{ADDRESS}/options")
def options_of_sign_in() -> Response:
    """Answer the script; a page that is only looked at asks nobody."""
    return options_response(CredentialForm(), lambda: api()(contract.begin_sign_in, contract.Begin()))


@pages.get(ADDRESS)
def show_passkey_sign_in() -> Response:
    """Whoever looks at it again is at the page that the button stands on."""
    attempt = requested_interaction_id()
    return journey.redirect_to(f"/login?{urlencode({'attempt': attempt})}" if attempt else "/login")


@pages.post(ADDRESS)
def submit_passkey_sign_in() -> Response:
    visit = current_visit()
    if requested_interaction_id() and visit.interaction is None:
        return journey.start_again()
    form = PasskeySignInForm()
    remember = bool(form.remember.data)
    drawn = login.fresh_form(remember=remember)
    if not form.validate():
        return login.again(form=drawn.with_token_error(), status=403)
    credential = read_credential(form)
    if credential is None:
        return login.again(RefusalReason.SCRIPTLESS, form=drawn, status=422)
    attempt = visit.interaction.id if visit.interaction else None
    shown = contract.PasskeySignIn(attempt=attempt, credential=credential, remember=remember)
    try:
        return journey.follow(api()(contract.sign_in, shown))
    except e.AccountLeaving as refusal:
        return delete_account.offer_to_keep(refusal)
    except (e.PasskeyRefused, e.PasskeysOff, e.PasskeyMisconfigured) as refusal:
        unknown = str((refusal.data or {}).get("UnknownPasskey") or "")
        return login.again(RefusalReason.PASSKEY, form=drawn, status=refusal.status, unknown=unknown)
    except ApiError as refusal:
        return login.again(reason_for(refusal), form=drawn, status=refusal.status)
