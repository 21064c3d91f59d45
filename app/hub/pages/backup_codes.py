"""Backup codes: made by a click, shown once, to be printed or kept as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from flask import Response

from app.contract import errors as e
from app.contract import hub_second_factors as contract
from app.hub import callback, journey, visit
from app.hub.arrival import api
from app.hub.forms import HubForm
from app.hub.page import Page
from app.hub.pages import pages

ADDRESS: Final = "/backup-codes"
_SAMPLE: Final = tuple(f"{n:05x}-{n * 7:05x}" for n in range(11111, 111111, 10000))


class MakeCodesForm(HubForm):
    """Nothing but a click."""


@dataclass(frozen=True)
class BackupCodesPage(Page):
    """Before the click, what they are for; after it, the codes."""

    template = "pages/backup_codes.html"
    scripts = (*Page.scripts, "print")

    form: MakeCodesForm
    codes: tuple[str, ...] = ()
    person: str = ""

    @property
    def onward(self) -> str:
        """Where it goes on: to what the sign-in was for, else to the account's security."""
        attempt = visit.current().attempt
        return f"/login?attempt={attempt.id}" if attempt else "/security"

    @property
    def file(self) -> str:
        """The codes as a text file, in an address of its own: nothing is fetched."""
        return "data:text/plain;charset=utf-8," + quote("\r\n".join(self.codes) + "\r\n")

    @classmethod
    def samples(cls) -> Mapping[str, BackupCodesPage]:
        return {
            "before": cls(MakeCodesForm()),
            "made": cls(MakeCodesForm(), _SAMPLE, "ada@example.com"),
            "token": cls(MakeCodesForm().refused_token()),
        }


@pages.get(ADDRESS)
def show_backup_codes() -> Response:
    """Ask nobody: what is shown here is the same for everybody."""
    if not visit.current().session:
        return callback.begin(ADDRESS)
    return BackupCodesPage(MakeCodesForm()).render()


@pages.post(ADDRESS)
def make_backup_codes() -> Response:
    """Make new codes and show them, this once: the old ones are over."""
    form = MakeCodesForm()
    if not form.validate():
        return BackupCodesPage(form).render(form.refusal_status)
    try:
        made = api()(contract.make_backup_codes, contract.OwnBackupCodes())
    except e.NotAuthenticated:
        return callback.begin(ADDRESS)
    except (e.NoSecondFactor, e.NoBackupCodes):
        return journey.onward("/security")
    return BackupCodesPage(MakeCodesForm(formdata=None), tuple(made.codes), made.person).render()
