"""Reads about the signed-in account that several pages need, and addresses that they share."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from app.contract import hub, hub_account_factors
from app.contract.errors import NotAuthenticated
from app.contract.hub_models import NoParameters
from app.contract.steps import AccountStep, LoginStep, RegisterStep
from app.hub.services import api
from app.hub.visit import current_visit

EMAILS: Final = "/emails"
EMAIL_CODE: Final = "/emails/confirm"


def read_profile(**more: bool) -> hub.ProfileResponse | None:
    """Return the profile of the signed-in account, `more` as in `ProfileRequest`; None without a session."""
    visit = current_visit()
    if not visit.session:
        return None
    try:
        profile = api()(hub.profile, hub.ProfileRequest(**more))
    except NotAuthenticated:
        return None
    visit.use_account_language(profile.person)
    return profile


def read_factors() -> hub_account_factors.FactorsView | None:
    """Return the second factors of the signed-in account; None without a session.

    Raises:
        TwoFactorOff: the tenant has no second factors.
    """
    if not current_visit().session:
        return None
    try:
        factors = api()(hub_account_factors.read, NoParameters())
    except NotAuthenticated:
        return None
    current_visit().use_account_language(factors.person)
    return factors


def account_in_interaction() -> str:
    """Return the label of the account that the current interaction signed in; empty if there is none."""
    interaction_id = current_visit().interaction_id
    if interaction_id is None:
        return ""
    step = api()(hub.resume, hub.InteractionRequest(interaction_id=interaction_id)).step
    person = step.person if isinstance(step, AccountStep) else None
    if isinstance(step, LoginStep | RegisterStep) and step.reauthentication:
        person = step.reauthentication.person
    return person.label if person else ""


def email_code_address(email: str, **more: str) -> str:
    """Return the address of the page that takes the code for an email address."""
    return f"{EMAIL_CODE}?{urlencode({'email': email, **more}, errors='replace')}"
