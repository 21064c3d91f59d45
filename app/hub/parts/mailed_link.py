"""The token of a mailed link, as it stands in the addresses of the pages that such links lead to."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from flask import request

from app.contract.emailed_links import MAX_TOKEN_LENGTH, LinkLookup
from app.kit.user_agents import is_automated

PARAMETER: Final = "vtoken"
QUERY: Final = {PARAMETER: MAX_TOKEN_LENGTH}
"""What links to another language repeat of it."""


def link_token() -> str:
    """Return the token that this page was opened with."""
    return request.args.get(PARAMETER, "")[:MAX_TOKEN_LENGTH]


def form_address(page: str, shown: str, **more: str) -> str:
    """Return where the page's form is sent: its own address, so that it can be read in another language after all."""
    return f"{page}?{urlencode({**more, PARAMETER: shown})}"


def link_read(shown: str) -> LinkLookup:
    """Return the question where a link stands, and whether a machine asks: a scanner of mail, a preview, a browser beforehand."""
    headers = request.headers
    is_beforehand = "prefetch" in headers.get("Sec-Purpose", headers.get("Purpose", ""))
    machine = request.method == "HEAD" or is_beforehand or is_automated(headers.get("User-Agent", ""))
    return LinkLookup(token=shown[:MAX_TOKEN_LENGTH], is_machine=machine)
