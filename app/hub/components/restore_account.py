"""The page that offers to restore an account that is being deleted; a correct sign-in leads here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response
from wtforms import HiddenField

from app.contract import errors
from app.contract.accounts.pages import deletion_pages
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.rendering.formatting import format_day
from app.hub.rendering.page import Notice, Page


class RestoreForm(HubForm):
    """Reverts the deletion."""

    keep = HiddenField()

    def to_request(self) -> deletion_pages.KeepRequest:
        return deletion_pages.KeepRequest(token=(self.keep.data or "")[:500])


@dataclass(frozen=True)
class KeepAccountPage(Page):
    """Offers to revert the deletion after a sign-in within the grace period."""

    template = "components/restore_account.html"

    form: RestoreForm
    until: Any
    is_restored: bool = False
    is_expired: bool = False

    @property
    def notice(self) -> Notice | None:
        if self.is_expired:
            return Notice(_l("Session expired"), _l("Sign in again to keep your account."))
        return super().notice

    @classmethod
    def samples(cls) -> Mapping[str, KeepAccountPage]:
        day = format_day("2026-12-05")
        return {
            "offered": cls(RestoreForm(data={"keep": "a-token"}), day),
            "restored": cls(RestoreForm(), day, is_restored=True),
            "too late": cls(RestoreForm(), "", is_expired=True),
        }


def offer_restore(refusal: errors.AccountLeaving) -> Response:
    """Return the page for a correct sign-in to an account that is being deleted."""
    details = refusal.data or {}
    form = RestoreForm(formdata=None, data={"keep": str(details.get("keep", ""))})
    return KeepAccountPage(form, format_day(str(details.get("leaves_at") or ""))).render(refusal.status)
