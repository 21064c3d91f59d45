"""The QR code that a device shows beside its code (RFC 8628 section 3.3.1), for devices that cannot draw one themselves.

It is drawn from the address alone, without a look-up, so it does not reveal which codes exist.
"""

from __future__ import annotations

import re
from typing import Final

from flask import Blueprint, Response
from werkzeug.exceptions import NotFound

from app.hub.components.qr_codes import qr_code
from app.hub.web.visit import current_visit

views = Blueprint("device_qr", __name__)

PATH: Final = "/device/qr"
_CODE: Final = re.compile(r"([BCDFGHJKLMNPQRSTVWXZ]{4})-?([BCDFGHJKLMNPQRSTVWXZ]{4})")


@views.get(PATH)
def device_qr() -> Response:
    """Return the QR code of `verification_uri_complete` as an SVG picture, which pages of any site may show."""
    visit = current_visit()
    code = _CODE.fullmatch(visit.query.get("user_code", "")[:10].upper())
    if code is None:
        raise NotFound
    picture = qr_code(f"{visit.origin}/device?user_code={code[1]}-{code[2]}")
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.size} {picture.size}" shape-rendering="crispEdges">'
        f'<path fill="#fff" d="M0 0h{picture.size}v{picture.size}H0z"/><path stroke="#000" d="{picture.path}"/></svg>'
    )
    response = Response(svg, content_type="image/svg+xml")
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
