"""Download your data: everything that is kept of a person, as one file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response
from flask_babel import lazy_gettext as _l

from app.contract import errors as e
from app.contract import hub_security as contract
from app.contract.hub_self_service import Proved
from app.hub import oidc_client
from app.hub.forms.account import PasswordConfirmationForm, confirmation_data, refusal_notice, require_confirmation
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.pages.profile import read_own_profile
from app.hub.services import api, services
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/download-data"
_ENOUGH: Final = Notice(_l("That is enough for now"), _l("You have downloaded it several times. Come back in an hour."))
_PIECE_CHARACTERS: Final = 16_384


class DownloadForm(PasswordConfirmationForm):
    """Nothing but a click."""

    def to_request(self) -> Proved:
        return Proved(password=self.proof)


@dataclass(frozen=True)
class DownloadPage(Page):
    """What the file has in it."""

    template = "pages/own_data.html"
    scripts = ("focus", "language", "reveal")
    """Not `once`: the page stays after the click, and may be used again."""

    form: DownloadForm
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, DownloadPage]:
        asked = DownloadForm(data={"account": "ada@example.com"})
        asked.add_refusal(e.WrongCurrentPassword())
        return {
            "fresh": cls(DownloadForm()),
            "with the password": cls(asked),
            "enough": cls(DownloadForm(), _ENOUGH),
            "token": cls(DownloadForm().with_token_error()),
        }


@pages.get(ADDRESS)
def show_own_data() -> Response:
    known = read_own_profile()
    if known is None:
        return oidc_client.start_login(ADDRESS)
    return require_confirmation(known, ADDRESS) or DownloadPage(DownloadForm(data=confirmation_data(known))).render()


@pages.post(ADDRESS)
def download_own_data() -> Response:
    form = DownloadForm()
    if not form.validate():
        return DownloadPage(form).render(form.error_status)
    try:
        made = api()(contract.own_data, form.to_request())
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except ApiError as refusal:
        return _refused(form, refusal)
    current_visit().renew(made.session)
    response = Response(_pieces(made.data), content_type="application/json; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{_file_name()}"'
    return response


def _refused(form: DownloadForm, refusal: ApiError) -> Response:
    problem = None
    if not form.add_refusal(refusal):
        problem = _ENOUGH if isinstance(refusal, e.TooManyRequests) else refusal_notice(refusal)
    response = DownloadPage(form, problem).render(refusal.status)
    if refusal.retry_after_seconds:
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def _file_name() -> str:
    return f"{current_visit().tenant.name}-account-{services().clock.now():%Y-%m-%d}.json"


def _pieces(data: dict[str, Any]) -> Iterator[bytes]:
    """Yield the document while it is written: it is never held a second time as one text."""
    held: list[str] = []
    size = 0
    for part in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(data):
        held.append(part)
        size += len(part)
        if size >= _PIECE_CHARACTERS:
            yield "".join(held).encode("utf-8", "replace")
            held, size = [], 0
    yield ("".join(held) + "\n").encode("utf-8", "replace")
