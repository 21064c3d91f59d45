"""Content-Security-Policy of pages, and the security headers of every response."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.kit.web.urls import is_source


def _is_own_or_source(text: str) -> bool:
    return text == "'self'" or is_source(text)


def content_security_policy(
    nonce: str,
    *,
    form_targets: Iterable[str] = (),
    images: Iterable[str] = (),
    fonts: Iterable[str] = (),
    captcha_sources: tuple[str, ...] = (),
    frame_sources: Iterable[str] = (),
    allows_fetch: bool = False,
) -> str:
    """Return the Content-Security-Policy of a page. Invalid sources are left out: they could end a directive.

    Args:
        nonce: the nonce of the page's own style and scripts.
        form_targets: sources where redirects after a form may lead, beside the hub; browsers check `form-action` on
            every redirect that follows a POST.
        images: sources of the tenant's and the page's images.
        fonts: sources of the tenant's font.
        captcha_sources: of a captcha provider, whose scripts, frames and connections the page allows.
        frame_sources: of the page's other frames.
        allows_fetch: whether the page's own script may call the hub.
    """
    image_sources = " ".join(["'self' data:", *filter(is_source, images)])
    targets = " ".join(dict.fromkeys(["'self'", *filter(is_source, form_targets)]))
    own = " ".join([f"'nonce-{nonce}'", *captcha_sources])
    connections = " ".join([*(["'self'"] if allows_fetch else []), *captcha_sources])
    framed = " ".join((*captcha_sources, *filter(_is_own_or_source, frame_sources)))
    optional = f"frame-src {framed}; " if framed else ""
    optional += f"connect-src {connections}; " if connections else ""
    font_sources = " ".join(filter(_is_own_or_source, fonts))
    optional += f"font-src {font_sources}; " if font_sources else ""
    return (
        f"default-src 'none'; script-src {own}; style-src {own}; {optional}img-src {image_sources}; "
        f"form-action {targets}; frame-ancestors 'none'; base-uri 'none'"
    )


HEADERS: Final = (
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("X-Robots-Tag", "none"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()"),
)


def with_security_headers(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of a response with the security headers; headers that a view set stay.

    A page whose policy lets other sites frame it gets no `X-Frame-Options`, which knows no such permission.
    """
    present = dict(headers)
    if "frame-ancestors *" in present.get("Content-Security-Policy", ""):
        present["X-Frame-Options"] = "left out"
    return [*headers, *(header for header in HEADERS if header[0] not in present)]
