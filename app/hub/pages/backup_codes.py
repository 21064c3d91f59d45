"""Backup codes: made by a click, shown once, to be printed or kept as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from flask import Response

from app.contract import errors as e
from app.contract import hub_second_factors as contract
from app.contract.hub_self_service import Proved
from app.hub import journey, oidc_client
from app.hub.forms.account import PasswordConfirmationForm, confirmation_data, refusal_notice, require_confirmation
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.pages.second_factors import read_own_factors
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/backup-codes"
_SAMPLE: Final = tuple(f"{n:05x}-{n * 7:05x}" for n in range(11111, 111111, 10000))


class MakeCodesForm(PasswordConfirmationForm):
    """Nothing but a click."""

    def to_request(self) -> Proved:
        return Proved(password=self.proof)


@dataclass(frozen=True)
class BackupCodesPage(Page):
    """Before the click, what they are for; after it, the codes."""

    template = "pages/backup_codes.html"
    scripts = (*Page.scripts, "print", "reveal")

    form: MakeCodesForm
    codes: tuple[str, ...] = ()
    person: str = ""
    problem: Notice | None = None

    @property
    def continue_url(self) -> str:
        """Where it goes on: to what the sign-in was for, else to the account's factors."""
        interaction = current_visit().interaction
        return f"/login?attempt={interaction.id}" if interaction else "/second-factors"

    @property
    def file(self) -> str:
        """The codes as a text file, in an address of its own: nothing is fetched."""
        return "data:text/plain;charset=utf-8," + quote("\r\n".join(self.codes) + "\r\n")

    @classmethod
    def samples(cls) -> Mapping[str, BackupCodesPage]:
        asked = MakeCodesForm(data={"account": "ada@example.com"})
        asked.add_refusal(e.WrongCurrentPassword())
        return {
            "with the password": cls(asked),
            "before": cls(MakeCodesForm()),
            "made": cls(MakeCodesForm(), _SAMPLE, "ada@example.com"),
            "token": cls(MakeCodesForm().with_token_error()),
        }


@pages.get(ADDRESS)
def show_backup_codes() -> Response:
    """Within a sign-in ask nobody: what is shown then is the same for everybody."""
    visit = current_visit()
    if visit.session and visit.interaction:
        return BackupCodesPage(MakeCodesForm(formdata=None)).render()
    try:
        known = read_own_factors()
    except e.TwoFactorOff:
        return journey.redirect_to("/security")
    if known is None:
        return oidc_client.start_login(ADDRESS)
    if not known.held or known.backup_codes is None:
        return journey.redirect_to("/second-factors")
    form = MakeCodesForm(formdata=None, data=confirmation_data(known))
    return require_confirmation(known, ADDRESS) or BackupCodesPage(form).render()


@pages.post(ADDRESS)
def make_backup_codes() -> Response:
    """Make new codes and show them, this once: the old ones are over."""
    form = MakeCodesForm()
    if not form.validate():
        return BackupCodesPage(form).render(form.error_status)
    try:
        made = api()(contract.make_backup_codes, form.to_request())
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except (e.NoSecondFactor, e.NoBackupCodes):
        return journey.redirect_to("/second-factors")
    except ApiError as refusal:
        problem = None if form.add_refusal(refusal) else refusal_notice(refusal)
        return BackupCodesPage(form, problem=problem).render(refusal.status)
    current_visit().renew(made.session)
    return BackupCodesPage(MakeCodesForm(formdata=None), tuple(made.codes), made.person).render()
