"""Reads about the signed-in account that several pages need."""

from __future__ import annotations

from app.contract.accounts.pages import profile as account_pages
from app.contract.errors import NotAuthenticated
from app.contract.page_models import NoParameters
from app.contract.second_factors.pages import account as account_factor_pages
from app.contract.sign_in import pages as sign_in_pages
from app.contract.steps import AccountStep, LoginStep, RegisterStep
from app.hub.web.services import api
from app.hub.web.visit import current_visit


def read_profile(**more: bool) -> account_pages.ProfileResponse | None:
    """Return the profile of the signed-in account, `more` as in `ProfileRequest`; None without a session."""
    visit = current_visit()
    if not visit.session:
        return None
    try:
        profile = api()(account_pages.profile, account_pages.ProfileRequest(**more))
    except NotAuthenticated:
        return None
    visit.use_account_language(profile.person)
    return profile


def read_factors() -> account_factor_pages.FactorsView | None:
    """Return the second factors of the signed-in account; None without a session.

    Raises:
        TwoFactorOff: the tenant has no second factors.
    """
    if not current_visit().session:
        return None
    try:
        factors = api()(account_factor_pages.read, NoParameters())
    except NotAuthenticated:
        return None
    current_visit().use_account_language(factors.person)
    return factors


def account_in_interaction() -> str:
    """Return the label of the account that the current interaction signed in; empty if there is none."""
    interaction_id = current_visit().interaction_id
    if interaction_id is None:
        return ""
    step = api()(sign_in_pages.resume, sign_in_pages.InteractionRequest(interaction_id=interaction_id)).step
    person = step.person if isinstance(step, AccountStep) else None
    if isinstance(step, LoginStep | RegisterStep) and step.reauthentication:
        person = step.reauthentication.person
    return person.label if person else ""
