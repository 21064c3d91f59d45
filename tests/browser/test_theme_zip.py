"""A theme's preview in Chromium, from files: pages have the theme's colors without a server, and send nothing."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.browsers.chromium import Opened
from tests.support.processes.command_line import runner


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    run = runner(tmp_path)
    theme, target = tmp_path / "hazel", tmp_path / "hazel.zip"
    run("theme", "new", str(theme), "--color", "#0a7d55")
    (theme / "static" / "css" / "theme.css").write_text(
        ".own-tagline { color: var(--link); border: 3px solid var(--brand) }"
    )
    done = run("theme", "preview", str(theme), "--to", str(target), "--pages", "ForgotPage")
    assert done.exit_code == 0, done.output
    ZipFile(target).extractall(tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_from_a_file_has_the_themes_look(unpacked: Path, opened: Opened, scheme: str) -> None:
    page = opened(painted=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.goto((unpacked / "index.html").as_uri())
    frame = page.frame_locator(".desktop iframe").first
    button = frame.locator("main button.button")
    own = frame.locator(".own-tagline")
    button.wait_for()
    border = own.evaluate("e => getComputedStyle(e).borderTopColor")
    assert border == frame.locator(".mark rect").evaluate("e => getComputedStyle(e).fill")
    assert (border == "rgb(10, 125, 85)") == (scheme == "light")
    button.click()
    assert all(address.startswith(("file:", "data:")) for address in sent)
    assert frame.locator("main button.button").is_visible()


def test_languages_and_emails_are_a_click_away(unpacked: Path, opened: Opened) -> None:
    page = opened()
    page.goto((unpacked / "index.html").as_uri())
    page.get_by_role("link", name="Deutsch").click()
    assert page.frame_locator(".phone iframe").first.locator("html").get_attribute("lang") == "de"
    page.get_by_role("link", name="Emails").click()
    assert "ada@example.com" in page.locator("pre").first.inner_text()
    mail = page.frame_locator(".mail iframe").first
    assert mail.locator("html").get_attribute("lang") == "de"
    page.goto((unpacked / "pages" / "de" / "ForgotPage" / "fresh.html").as_uri())
    page.locator(".lang summary").click()
    page.get_by_role("link", name="English").click()
    assert page.locator("html").get_attribute("lang") == "en"
