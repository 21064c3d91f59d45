"""Download all data of the account as one file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response

from app.contract import errors
from app.contract.accounts.pages import security_pages
from app.contract.page_models import NoParameters
from app.hub.account_pages import require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.reauthentication import ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering.page import Notice, Page
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/download-data"
_RATE_LIMITED: Final = Notice(_l("Too many downloads"), _l("Try again in an hour."))
_CHUNK_CHARACTERS: Final = 16_384


class DownloadForm(ReauthenticationForm):
    """A button, with the password if required."""


@dataclass(frozen=True)
class DownloadDataPage(Page):
    """Explains the contents of the file."""

    template = "pages/account/download_data.html"
    own_rules = ("scopes",)
    scripts = ("focus", "language", "reveal")
    """Without `once`: the page stays open after the download and may be used again."""
    refusals = {**CHANGE_REFUSALS, errors.TooManyRequests: _RATE_LIMITED}

    form: DownloadForm

    @classmethod
    def samples(cls) -> Mapping[str, DownloadDataPage]:
        with_password = DownloadForm(data={"account": "ada@example.com"})
        with_password.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(DownloadForm()),
            "with the password": cls(with_password),
            "enough": cls(DownloadForm(), page_notice=_RATE_LIMITED),
            "token": cls(DownloadForm().with_token_error()),
        }


@account_page(PATH)
def show_download_data() -> Response:
    view = read_profile()
    require_reauthentication(view)
    return DownloadDataPage(DownloadForm(data=reauthentication_data(view))).render()


@pages.post(PATH)
def download_data() -> Response:
    form = DownloadForm()
    if not form.validate():
        return DownloadDataPage(form).render(form.error_status)
    try:
        export = api(form.current_password)(security_pages.export_data, NoParameters())
    except ApiError as refusal:
        return DownloadDataPage(form).render_refusal(refusal)
    response = Response(_chunks(export.data), content_type="application/json; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{_file_name()}"'
    return response


def _file_name() -> str:
    return f"{current_visit().tenant.name}-account-{services().clock.now():%Y-%m-%d}.json"


def _chunks(data: dict[str, Any]) -> Iterator[bytes]:
    """Yield the JSON document in chunks, without a second copy in memory."""
    buffered: list[str] = []
    size = 0
    for part in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(data):
        buffered.append(part)
        size += len(part)
        if size >= _CHUNK_CHARACTERS:
            yield "".join(buffered).encode("utf-8", "replace")
            buffered, size = [], 0
    yield ("".join(buffered) + "\n").encode("utf-8", "replace")
