"""Sign-in by a passkey: the page of sign-in shows the button, and its script asks here."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Response
from wtforms import BooleanField

from app.contract import errors as e
from app.contract import hub_passkeys as contract
from app.hub import journey, visit
from app.hub.arrival import api, named_attempt
from app.hub.pages import delete_account, login, pages
from app.hub.passkey_forms import CredentialForm, given, options
from app.hub.sign_in_refusals import Refusal, reason_of
from app.kit.errors import ApiError

ADDRESS = "/login/passkey"


class PasskeySignInForm(CredentialForm):
    """The passkey, and the box that the page has for the password, too."""

    remember = BooleanField()


@pages.post(f"{ADDRESS}/options")
def options_of_sign_in() -> Response:
    """Answer the script; a page that is only looked at asks nobody."""
    return options(CredentialForm(), lambda: api()(contract.begin_sign_in, contract.Begin()))


@pages.get(ADDRESS)
def show_passkey_sign_in() -> Response:
    """Whoever looks at it again is at the page that the button stands on."""
    attempt = named_attempt()
    return journey.onward(f"/login?{urlencode({'attempt': attempt})}" if attempt else "/login")


@pages.post(ADDRESS)
def submit_passkey_sign_in() -> Response:
    here = visit.current()
    if named_attempt() and here.attempt is None:
        return journey.start_again()
    form = PasskeySignInForm()
    remember = bool(form.remember.data)
    drawn = login.fresh_form(remember=remember)
    if not form.validate():
        return login.again(form=drawn.refused_token(), status=403)
    credential = given(form)
    if credential is None:
        return login.again(Refusal.SCRIPTLESS, form=drawn, status=422)
    attempt = here.attempt.id if here.attempt else None
    shown = contract.PasskeySignIn(attempt=attempt, credential=credential, remember=remember)
    try:
        return journey.follow(api()(contract.sign_in, shown))
    except e.AccountLeaving as refusal:
        return delete_account.offer_to_keep(refusal)
    except (e.PasskeyRefused, e.PasskeysOff, e.PasskeyMisconfigured) as refusal:
        unknown = str((refusal.data or {}).get("UnknownPasskey") or "")
        return login.again(Refusal.PASSKEY, form=drawn, status=refusal.status, unknown=unknown)
    except ApiError as refusal:
        return login.again(reason_of(refusal), form=drawn, status=refusal.status)
