"""Sign-in with a passkey: the endpoints behind the login page's button and script."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Response
from wtforms import BooleanField, StringField

from app.contract import errors
from app.contract.page_models import NoParameters
from app.contract.passkeys import passkey_pages
from app.hub import journey
from app.hub.components.restore_account import offer_restore
from app.hub.components.sign_in_methods import PASSKEY, PATHS, begin_method
from app.hub.components.sign_in_refusals import RefusalReason, reason_for
from app.hub.forms.passkey import CredentialForm, options_response, read_credential
from app.hub.pages import pages
from app.hub.pages.sign_in.login.current_page import new_login_form, render_after_refusal
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, requested_interaction_id
from app.kit.operations.errors import ApiError

PATH = PATHS[PASSKEY]


class PasskeySignInForm(CredentialForm):
    """The passkey response, the "remember me" box, and the identifier typed on the login page."""

    remember = BooleanField()
    identifier = StringField()


@pages.post(f"{PATH}/options")
def sign_in_options() -> Response:
    """Return WebAuthn options to the script, on demand."""
    return options_response(CredentialForm(), lambda: api()(passkey_pages.begin_sign_in, NoParameters()))


@pages.get(PATH)
def show_passkey_sign_in() -> Response:
    """Redirect a reload to the login page."""
    interaction_id = requested_interaction_id()
    return redirect_to(f"/login?{urlencode({'attempt': interaction_id})}" if interaction_id else "/login")


@pages.post(PATH)
def submit_passkey_sign_in() -> Response:
    visit = current_visit()
    journey.refuse_unknown_interaction()
    form = PasskeySignInForm()
    remember = bool(form.remember.data)
    login_form = new_login_form(remember=remember, identifier=(form.identifier.data or "")[:320])
    if not form.validate():
        return render_after_refusal(form=login_form.with_token_error(), status=403)
    credential = read_credential(form)
    if credential is None:
        return render_after_refusal(RefusalReason.SCRIPTLESS, form=login_form, status=422)
    interaction_id = visit.interaction_id
    assertion = passkey_pages.PasskeySignIn(interaction_id=interaction_id, credential=credential, remember=remember)
    try:
        response = api()(passkey_pages.sign_in, assertion)
        return begin_method(journey.follow(response), response, PASSKEY)
    except errors.AccountLeaving as refusal:
        return offer_restore(refusal)
    except (errors.PasskeyRefused, errors.PasskeysOff, errors.PasskeyMisconfigured) as refusal:
        unknown = str((refusal.data or {}).get("UnknownPasskey") or "")
        return render_after_refusal(RefusalReason.PASSKEY, form=login_form, status=refusal.status, unknown=unknown)
    except ApiError as refusal:
        return render_after_refusal(reason_for(refusal), form=login_form, status=refusal.status)
