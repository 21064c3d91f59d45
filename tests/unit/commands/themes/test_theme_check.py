"""gatehouse theme check: renders the pages of a theme, and names what its templates break."""

from __future__ import annotations

import random
import string
import sys
from pathlib import Path

import pytest

from app.commands.theme import check
from app.hub.theme_check.review import PageProblem
from app.kit.templating.compiled import CompiledTemplate, TemplateFailed
from tests.support.processes.command_line import Run, refused
from tests.support.sources import text

SPLIT = "<div>{{ mark() }}{{ content() }}{{ footer() }}</div>"


@pytest.fixture
def theme(tmp_path: Path) -> Path:
    folder = tmp_path / "hazel"
    (folder / "templates" / "layouts").mkdir(parents=True)
    (folder / "theme.yaml").write_text("links: {privacy: https://a.example/p, terms: https://a.example/t}")
    return folder


def checked(run: Run, theme: Path, split: str = SPLIT, pages: str = "ForgotPage") -> tuple[int, str]:
    (theme / "templates" / "layouts" / "split.html").write_text(split)
    done = run("theme", "check", str(theme), "--pages", pages)
    return done.exit_code, done.output


def test_layout_that_keeps_all_parts_has_no_problem(run: Run, theme: Path) -> None:
    code, said = checked(run, theme)
    assert code == 0
    assert "Warning" not in said
    assert said.startswith("hazel: no problems on ")


def test_ids_that_repeat_are_named_with_page_state_and_languages(run: Run, theme: Path) -> None:
    code, said = checked(
        run, theme, SPLIT + '<ul>{% for item in links %}<li id="own-a">{{ item.text }}</li>{% endfor %}</ul>'
    )
    assert code == 1
    page, first, *_ = said.splitlines()
    assert page == "ForgotPage"
    assert first.startswith("  fresh, ")
    assert first.endswith(" (en, de, ar): the id 'own-a' is there 2 times: an id is unique on a page")


def test_reference_to_nothing_is_named(run: Run, theme: Path) -> None:
    code, said = checked(run, theme, f'<nav aria-labelledby="own-none">x</nav>{SPLIT}')
    assert code == 1
    assert "aria-labelledby of <nav> names the id 'own-none', which no element has" in said


def test_left_out_links_are_a_warning(run: Run, theme: Path) -> None:
    code, said = checked(run, theme, "<div>{{ content() }}{{ languages() }}</div>")
    assert code == 0
    assert "of ours had the link to https://a.example/p; the theme’s templates leave it out." in said


def test_layout_that_fails_is_named_with_its_reason(run: Run, theme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise TemplateFailed("it took too long")

    monkeypatch.setattr(CompiledTemplate, "render", fail)
    code, said = checked(run, theme)
    assert code == 1
    assert "templates/layouts/split.html failed, so this page has ours: it took too long" in said


def test_email_that_fails_is_named_with_its_reason(run: Run, theme: Path) -> None:
    (theme / "templates" / "mails").mkdir()
    own = "{% block intro %}{% if has_link %}Own words{% endif %}{% endblock %}"
    (theme / "templates" / "mails" / "reset.html").write_text(own)
    code, said = checked(run, theme, pages="ForgotPage,reset")
    assert code == 1
    assert (
        "mails/reset.html\n  code (en, de, ar): templates/mails/reset.html: nothing is left of the block intro\n"
        in said
    )
    assert "hazel: 3 emails failed, and no problems on " in said
    assert checked(run, theme)[0] == 0


def test_scripts_are_a_warning_with_their_origins(run: Run, theme: Path) -> None:
    (theme / "theme.yaml").write_text("scripts: {js: https://analytics.example/a.js}")
    code, said = checked(run, theme)
    assert code == 0
    assert "the theme has scripts, from https://analytics.example" in said
    assert "settings.theme_scripts.origins" in said


def test_document_over_the_first_flight_is_a_problem(run: Run, theme: Path) -> None:
    letters = "".join(random.Random(40).choices(string.ascii_letters + string.digits, k=16_000))
    (theme / "theme.yaml").write_text("logo: logo.png")
    (theme / "logo.png").write_bytes(random.Random(41).randbytes(8_000))
    code, said = checked(run, theme, SPLIT.replace("<div>", f"<div><p>{letters}</p>", 1))
    assert code == 1
    assert "expected at most 14,600; shorten the layout and the logo" in said
    assert "Warning: " in said


def test_unreadable_colors_have_their_line(run: Run, theme: Path) -> None:
    sheet = theme / "static" / "css" / "theme.css"
    sheet.parent.mkdir(parents=True)
    sheet.write_text(".own-a { margin: 0 }\n.own-slogan { color: #999 }\n")
    code, said = checked(run, theme)
    assert code == 1
    assert said.startswith(
        f"{sheet}:2: expected a contrast of at least 4.5:1 in light mode; found 2.85:1 for .own-slogan, "
    )
    assert said.splitlines()[0].replace(f"{theme}/", "hazel/") in text(Path("docs/theming.md"))


def test_unknown_words_of_pages_are_refused(run: Run, theme: Path) -> None:
    assert refused(run("theme", "check", str(theme), "--pages", "nothing")) == "No page has a name with nothing."


def test_problem_of_many_pages_is_printed_once() -> None:
    problems = [PageProblem(f"{letter}Page", state, "en", "broken") for letter in "abcdefgh" for state in ("x", "y")]
    assert [*check.problem_lines(problems)] == ["8 pages: aPage, bPage, cPage, dPage …", "  broken"]


def test_at_most_fifty_problems_are_printed() -> None:
    problems = [PageProblem(f"{number % 3}Page", "x", "en", f"broken {number}") for number in range(80)]
    lines = [*check.problem_lines(problems)]
    assert sum(line.startswith("  ") for line in lines) == 50
    assert lines[-1] == "and 30 more."


def test_browser_that_is_missing_is_refused(run: Run, theme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    said = refused(run("theme", "check", str(theme), "--browser"))
    assert said == "There's no Chromium in PATH. Install Chromium, Chrome or Edge, or name one with --chromium PATH."


def test_browser_that_does_not_start_is_refused(run: Run, theme: Path) -> None:
    said = refused(run("theme", "check", str(theme), "--browser", "--chromium", "/bin/false", "--pages", "ForgotPage"))
    assert said.startswith("/bin/false doesn't start: ")


def test_missing_playwright_is_refused(run: Run, theme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    said = refused(run("theme", "check", str(theme), "--browser", "--chromium", "/bin/false", "--pages", "ForgotPage"))
    assert said == "--browser needs Playwright. Run pip install playwright; your Chromium stays the browser."


def test_browser_finds_what_rendering_cannot(run: Run, theme: Path, chromium_path: str) -> None:
    sheet = theme / "static" / "css" / "theme.css"
    sheet.parent.mkdir(parents=True)
    sheet.write_text(".own-wide { inline-size: 700px }")
    (theme / "templates" / "layouts" / "split.html").write_text(f'<p class="own-wide">Wide</p>{SPLIT}')
    how = ("theme", "check", str(theme), "--pages", "ForgotPage")
    assert run(*how).exit_code == 0
    done = run(*how, "--browser", "--chromium", chromium_path)
    assert done.exit_code == 1
    page, *lines, last = done.output.splitlines()
    assert page == "ForgotPage"
    assert [line.partition(": ")[2] for line in lines] == [
        f'scrolls sideways at {width} px: <p class="own-wide"> “Wide”' for width in (521, 380, 320)
    ]
    assert ", in Chromium " in last
