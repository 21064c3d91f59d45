"""A picture of every page, mail and state: `python -m tools.shots [FOLDER] [--page NAME] [--language de] ...`.

Desktop and telephone, light and dark, each language; beside them `index.html`, which shows all of them on one page.
"""

import argparse
import html
import shutil
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from app.contract.messages.models import MailTemplate, TextMessageTemplate
from app.contract.tenants.branding import Brand as TenantBrand
from app.hub import create_app
from app.hub.gallery import TENANTS, all_samples
from app.identity.administration.configuration.file.read_configuration import read_file
from app.identity.messaging import gallery
from app.identity.messaging.message import Branding
from app.kit.package_files import HOME as ROOT
from app.kit.text.languages import LANGUAGES, Language
from app.settings import Settings

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
]
SIZES = {"desktop": (1280, 820), "phone": (390, 844)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


class Shot(NamedTuple):
    """One picture to take."""

    page: str
    state: str
    language: str
    size: str
    scheme: Literal["light", "dark"]
    look: str

    @property
    def file(self) -> str:
        return (
            "-".join((self.page, self.state.replace(" ", "_"), self.language, self.size, self.scheme, self.look))
            + ".png"
        )

    @property
    def address(self) -> str:
        return f"/_gallery/{self.page}/{quote(self.state)}?lang={self.language}&look={self.look}"


class Pages:
    """The pages of one browser, with scripts and without: a page is drawn once and then seen in every size and light."""

    def __init__(self, browser: Browser) -> None:
        self._pages = {has: browser.new_context(java_script_enabled=has).new_page() for has in (True, False)}

    def sized(self, shot: Shot, *, has_script: bool) -> Page:
        width, height = SIZES[shot.size]
        page = self._pages[has_script]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=shot.scheme)
        return page


def shots(app: Any, requested: argparse.Namespace) -> Iterator[Shot]:
    with app.app_context():
        samples = [(page.__name__, state) for page, state in all_samples()]
    for name, state in samples:
        if requested.page and requested.page.lower() not in name.lower():
            continue
        for language in requested.language:
            for size in requested.size:
                for scheme in requested.scheme:
                    yield Shot(name, state, language, size, scheme, requested.look)


def take(pages: Pages, base: str, shot: Shot, folder: Path) -> None:
    # A page that sends itself on is drawn without JavaScript, or there would be nothing to see.
    page = pages.sized(shot, has_script=shot.page != "FormPostPage" and shot.state != "in the same browser")
    if not page.url.endswith(shot.address):
        answer = page.goto(base + shot.address)
        if answer is None or answer.status != HTTPStatus.OK:
            raise SystemExit(f"There is no {shot.address} to take a picture of.")
    page.screenshot(path=folder / shot.file, full_page=shot.size == "phone", animations="disabled")


def messages(requested: argparse.Namespace) -> Iterator[tuple[Shot, str]]:
    """Every mail and text message in every state, with its HTML; `--page mail` or `--page sms` draws them alone."""
    look, own = _demo_tenant(requested.look) or (_sample_tenant(requested.look), ())
    for language in requested.language:
        speaks = LANGUAGES[language]
        shown = [
            *gallery.emails(look, speaks, [item for item in own if isinstance(item, MailTemplate)]),
            *gallery.text_messages(look, speaks, [item for item in own if isinstance(item, TextMessageTemplate)]),
        ]
        for email in shown:
            if email.message is None or requested.page.lower() not in email.name.lower():
                continue
            page = email.message.html or _bubble(email.message.text, speaks)
            for size in requested.size:
                for scheme in requested.scheme:
                    yield Shot(email.name, email.state, language, size, scheme, requested.look), page


def _demo_tenant(name: str) -> tuple[Branding, tuple[MailTemplate | TextMessageTemplate, ...]] | None:
    """A tenant of the demo, which may have templates of its own."""
    demo = read_file(ROOT / "examples" / "demo.yaml")
    tenant = next((item for item in demo.tenants if item.name == name), None)
    if tenant is None:
        return None
    brand = demo.brands.get(name, TenantBrand())
    return Branding(brand.display_name or name.title(), brand), (
        *(tenant.mail_templates or ()),
        *(tenant.sms_templates or ()),
    )


def _sample_tenant(name: str) -> Branding:
    brand = TENANTS[name]
    return Branding(brand.name, TenantBrand(color=brand.colour, radius_px=brand.radius_pixels, signature=brand.name))


def _bubble(text: str, language: Language) -> str:
    style = (
        ":root{color-scheme:light dark}body{margin:24px;font:17px/1.4 system-ui}"
        "p{white-space:pre-wrap;max-width:300px;padding:10px 14px;border-radius:18px;background:light-dark(#e9e9eb,#303034)}"
    )
    return f'<!doctype html><html lang="{language.tag}" dir="{language.direction}"><style>{style}</style><p dir="auto">{html.escape(text)}'


def take_mail(pages: Pages, shot: Shot, html: str, folder: Path) -> None:
    page = pages.sized(shot, has_script=False)
    page.goto("about:blank")  # Without it the mail inherits the Content Security Policy of the page shown before.
    page.set_content(html)
    page.screenshot(path=folder / shot.file, full_page=True, animations="disabled")


def index(folder: Path, taken: list[Shot]) -> None:
    """One page with all pictures, for review."""
    figures = "".join(
        f'<figure><a href="{quote(shot.file)}"><img loading="lazy" src="{quote(shot.file)}" alt=""></a>'
        f"<figcaption>{html.escape(' '.join(shot))}</figcaption></figure>"
        for shot in taken
    )
    style = "body{font:14px system-ui;display:flex;flex-wrap:wrap;gap:16px}img{height:360px}figure{margin:0}"
    (folder / "index.html").write_text(f"<!doctype html><title>Shots</title><style>{style}</style>{figures}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "var" / "shots")
    parser.add_argument("--page", default="", help="only pages whose name contains this")
    parser.add_argument("--language", nargs="+", default=["de", "ar"])
    parser.add_argument("--look", default="acme", help="a tenant of the gallery")
    parser.add_argument("--size", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--scheme", nargs="+", choices=SCHEMES, default=SCHEMES)
    requested = parser.parse_args()
    app = create_app(Settings(secrets=(b"pictures have no secrets, none at all",), development=True))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    requested.folder.mkdir(parents=True, exist_ok=True)
    taken = list(shots(app, requested))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=FLAGS
        )
        pages = Pages(browser)
        for shot in taken:
            take(pages, f"http://127.0.0.1:{server.server_port}", shot, requested.folder)
        for shot, html_part in messages(requested):
            take_mail(pages, shot, html_part, requested.folder)
            taken.append(shot)
        browser.close()
    server.shutdown()
    index(requested.folder, taken)
    print(f"{len(taken)} pictures in {requested.folder}")


if __name__ == "__main__":
    main()
