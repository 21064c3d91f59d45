"""Content-Security-Policy of pages, and the security headers of every response."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.kit.web.urls import is_source

_SANDBOX: Final = "allow-scripts allow-popups allow-popups-to-escape-sandbox"
"""Scripts run, and links open pages of their own; forms, storage, cookies and other windows of the host are out of reach."""


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
    own_scripts: tuple[str, ...] | None = None,
    own_connections: tuple[str, ...] = (),
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
        own_scripts: origins of the scripts that a theme has on this page; None for every page without any. They need the nonce by the
            first policy and the origin by the second one, also after a redirect, which a nonce alone would allow. `sandbox` gives the
            page an origin of its own, so that they reach no other page of the host (decision 0421).
        own_connections: origins to which these scripts may send.
    """
    image_sources = " ".join(["'self' data:", *filter(is_source, (*images, *own_connections))])
    targets = " ".join(dict.fromkeys(["'self'", *filter(is_source, form_targets)]))
    own = " ".join([f"'nonce-{nonce}'", *captcha_sources])
    connected = (*(["'self'"] if allows_fetch else []), *captcha_sources, *filter(is_source, own_connections))
    connections = " ".join(connected)
    framed = " ".join((*captcha_sources, *filter(_is_own_or_source, frame_sources)))
    optional = f"frame-src {framed}; " if framed else ""
    optional += f"connect-src {connections}; " if connections else ""
    font_sources = " ".join(filter(_is_own_or_source, fonts))
    optional += f"font-src {font_sources}; " if font_sources else ""
    policy = (
        f"default-src 'none'; script-src {own}; style-src {own}; {optional}img-src {image_sources}; "
        f"form-action {targets}; frame-ancestors 'none'; base-uri 'none'"
    )
    if own_scripts is None:
        return policy
    origins = " ".join(["'self'", *filter(is_source, own_scripts)])
    return f"{policy}, script-src {origins}; sandbox {_SANDBOX}"


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
