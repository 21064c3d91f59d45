"""What holds for every page in every state and language; a new page is covered on its day, because it has samples."""

import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser

import pytest

from app.hub.locale import LANGUAGES
from app.settings import ROOT
from tests.support import samples
from tests.support.checkers import html_problems
from tests.support.samples import Sample

FIRST_FLIGHT_BYTES = 14_600
MOST_REQUESTS = 3


class Elements(HTMLParser):
    """Collects every element with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def all(self, *tags: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.found if tag in tags]


@cache
def elements_in(html: str) -> Elements:
    return Elements(html)


@pytest.fixture(scope="module")
def pages() -> list[Sample]:
    return samples.every_drawn()


def test_every_module_of_a_page_shows_samples() -> None:
    assert {"LoginPage", "ConsentPage", "ErrorPage", "ProfilePage", "SecurityPage", "UnknownTenantPage"} <= {
        page for page, _ in samples.names()
    }


def test_every_page_is_valid_html(pages: list[Sample]) -> None:
    assert html_problems({page.name: page.html for page in pages}) == []


def test_every_page_fits_into_the_first_flight(pages: list[Sample]) -> None:
    assert {page.name: page.bytes_all_in for page in pages if page.bytes_all_in > FIRST_FLIGHT_BYTES} == {}
    assert {page.name: page.requests for page in pages if page.requests > MOST_REQUESTS} == {}


def test_every_page_names_its_language_and_direction(pages: list[Sample]) -> None:
    for page in pages:
        root = elements_in(page.html).all("html")[0]
        assert (root["lang"], root["dir"]) == (page.language, LANGUAGES[page.language].direction), page.name
        assert page.headers["Content-Language"] == page.language


def test_every_page_has_one_heading_and_a_title(pages: list[Sample]) -> None:
    for page in pages:
        assert page.html.count("<h1") == 1, page.name
        assert re.search(r"<title>[^<]{3,}</title>", page.html), page.name


def test_no_id_is_given_twice(pages: list[Sample]) -> None:
    for page in pages:
        ids = Counter(attributes["id"] for _, attributes in elements_in(page.html).found if "id" in attributes)
        assert [name for name, count in ids.items() if count > 1] == [], page.name


def test_every_field_has_a_label_and_every_reference_a_target(pages: list[Sample]) -> None:
    for page in pages:
        elements = elements_in(page.html)
        ids = {attributes["id"] for _, attributes in elements.found if "id" in attributes}
        labelled = {label["for"] for label in elements.all("label") if "for" in label}
        for field in elements.all("input", "select", "textarea"):
            if field.get("type") not in ("hidden", "checkbox"):
                assert field["id"] in labelled, page.name
        for _, attributes in elements.found:
            pointed = f"{attributes.get('aria-describedby', '')} {attributes.get('aria-labelledby', '')}".split()
            assert set(pointed) <= ids, page.name


def test_every_form_that_posts_to_us_bears_a_token(pages: list[Sample]) -> None:
    for page in pages:
        for form in re.findall(r"<form.*?</form>", page.html, re.DOTALL):
            if 'action="/' in form:
                assert re.search(r'name="token" value="[\w-]{43}"', form), page.name


def test_no_page_allows_anything_inline_that_has_not_its_nonce(pages: list[Sample]) -> None:
    for page in pages:
        assert "unsafe" not in page.policy, page.name
        nonce = re.search(r"script-src 'nonce-([\w-]{16})'[^;]*; style-src 'nonce-([\w-]{16})'", page.policy)
        assert nonce, page.name
        for element in elements_in(page.html).all("script", "style"):
            assert element["nonce"] == nonce[1], page.name
        for part in ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"):
            assert part in page.policy or "HandOver" in page.name, page.name


def test_nothing_of_a_page_comes_from_elsewhere(pages: list[Sample]) -> None:
    for page in pages:
        fetched = re.findall(r'(?:src|<link[^>]* href)="([^"]+)"', page.html)
        assert [part for part in fetched if not part.startswith(("/static/", "data:"))] == [], page.name


def test_only_the_widget_of_a_captcha_lets_anybody_else_run_scripts(pages: list[Sample]) -> None:
    shown = set()
    for page in pages:
        let_in = re.findall(r"(?:script|style|frame|connect)-src[^;]*https?:", page.policy)
        assert len(let_in) == (4 if "data-widget" in page.html else 0), page.name
        shown.update(re.findall(r'data-widget="(\w+)"', page.html))
    assert shown == {"recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent"}


def test_a_page_that_says_something_is_wrong_says_so_first_in_its_title(pages: list[Sample]) -> None:
    for page in pages:
        if 'role="alert"' in page.html:
            assert re.search(r"<title>(Error|Fehler|خطأ): ", page.html), page.name


def test_no_two_languages_show_the_same_page() -> None:
    for name, state in samples.names():
        bodies = [re.sub(r".*<body", "", samples.drawn(name, state, tag).html, flags=re.DOTALL) for tag in LANGUAGES]
        headings = {re.sub(r"<.*?>", "", re.findall(r"<main.*?</main>", body, re.DOTALL)[0]).strip() for body in bodies}
        assert len(headings) == len(LANGUAGES), f"{name} {state}"


def test_no_sentence_is_left_with_a_placeholder(pages: list[Sample]) -> None:
    for page in pages:
        assert not re.search(r"%\(\w+\)|\{\w+\}", re.sub(r"<style.*?</style>", "", page.html, flags=re.DOTALL)), (
            page.name
        )


def test_private_pages_are_never_stored_nor_indexed(pages: list[Sample]) -> None:
    for page in pages:
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["X-Robots-Tag"] == "none"
        assert page.headers["Referrer-Policy"] == "no-referrer"


def forms_of(page: Sample) -> list[Elements]:
    return [Elements(form) for form in re.findall(r"<form.*?</form>", page.html, re.DOTALL)]


def test_password_managers_know_every_field(pages: list[Sample]) -> None:
    for page in pages:
        for form in forms_of(page):
            tokens = [field.get("autocomplete", "") for field in form.all("input")]
            hidden = [field for field in form.all("input") if field.get("type") == "password"]
            for pin in (field for field in hidden if field.get("name") == "pin"):
                assert pin.get("autocomplete") == "one-time-code", "nobody keeps it in the place of the password"
            secrets = [field for field in hidden if field.get("name") != "pin"]
            for field in secrets:
                assert field.get("autocomplete") in ("current-password", "new-password"), page.name
            if secrets:
                assert {"username", "username webauthn"} & set(tokens), f"{page.name}: whose password?"


def test_nothing_keeps_managers_or_paste_away(pages: list[Sample]) -> None:
    for page in pages:
        assert not re.search(r'\son(paste|copy|drop|input|key\w+)=|maxlength="[1-9]"', page.html), page.name
        for field in elements_in(page.html).all("input"):
            if field.get("autocomplete") == "off":
                assert re.fullmatch(r"captcha|number|security_answer|answer_\d+|answer\.\w+", field["name"]), page.name


def test_a_code_is_typed_with_the_right_keyboard(pages: list[Sample]) -> None:
    for page in pages:
        for field in elements_in(page.html).all("input"):
            if field.get("name") == "code" and field.get("type") != "hidden":
                assert (field["autocomplete"], field["inputmode"], field["dir"]) == ("one-time-code", "numeric", "ltr")


def test_what_is_wrong_is_linked_to_its_field_and_stands_there(pages: list[Sample]) -> None:
    for page in pages:
        fields = {
            field["id"]: field for field in elements_in(page.html).all("input", "select", "textarea") if "id" in field
        }
        wrong = {name for name, field in fields.items() if field.get("aria-invalid") == "true"}
        linked = set(re.findall(r'<li><a href="#([\w-]+)">', page.html))
        assert linked == wrong, page.name
        for name in wrong:
            assert f"{name}-problem" in fields[name]["aria-describedby"].split(), page.name
            assert f'id="{name}-problem"' in page.html, page.name


def test_a_summary_takes_the_focus(pages: list[Sample]) -> None:
    for page in pages:
        for element in (
            attributes for _, attributes in elements_in(page.html).found if attributes.get("id") == "summary"
        ):
            assert "autofocus" in element, page.name
            assert element["tabindex"] == "-1", page.name


def test_the_order_of_the_page_is_that_of_the_keyboard(pages: list[Sample]) -> None:
    for page in pages:
        indexes = {attributes.get("tabindex", "0") for _, attributes in elements_in(page.html).found}
        assert indexes <= {"0", "-1"}, page.name


def test_no_page_is_a_dead_end(pages: list[Sample]) -> None:
    """Some way on stands in the page itself; only who came to no tenant at all has none."""
    for page in pages:
        main = re.findall(r"<main.*?</main>", page.html, re.DOTALL)[0]
        ways = Elements(main).all("a", "button")
        assert ways or page.name.startswith(("UnknownTenantPage", "ErrorPage")), page.name


def test_a_form_begins_with_the_button_that_enter_presses(pages: list[Sample]) -> None:
    """Browsers press the first one: it has to be what the form is for, and never a quiet alternative before it."""
    for page in pages:
        for form in forms_of(page):
            buttons = [each["class"] for each in form.all("button") if each.get("type") == "submit" and "class" in each]
            typed = [each for each in form.all("input") if each.get("type") not in ("hidden", "checkbox")]
            if typed and len(buttons) > 1:
                assert "button--plain" not in buttons[0], page.name
            assert sum("button--plain" not in each for each in buttons if each.startswith("button")) <= 1, page.name


def test_a_tenants_colours_are_there_before_the_page_is_drawn(pages: list[Sample]) -> None:
    for page in pages:
        head, _, body = page.html.partition("<body")
        assert "--brand:" in head, page.name
        assert "<style" not in body, page.name


def test_no_page_leaves_anything_on_the_device(pages: list[Sample]) -> None:
    """Neither an application to install nor a worker: both outlive a visit."""
    for page in pages:
        assert "serviceWorker" not in page.html, page.name
        assert 'rel="manifest"' not in page.html, page.name


def test_no_script_is_written_for_newer_browsers_alone() -> None:
    """ES2015 without arrows, in the words of 2015: one unknown sign stops a whole file where a person has no newer browser."""
    newer = re.compile(r"=>|`|\?\?|\?\.(?!\d)|\|\|=|&&=|\*\*|\b(?:let|const|class|async|await|import|export)\b")
    found = {}
    for path in sorted((ROOT / "static" / "js").glob("*.js")):
        code = re.sub(r"//.*", "", path.read_text())
        if said := newer.findall(re.sub(r'"[^"\n]*"', '""', code)):
            found[path.name] = said
        assert "localStorage" not in code, path.name
        assert "sessionStorage" not in code, path.name
    assert found == {}


def test_every_page_that_a_form_leads_to_can_be_opened_again() -> None:
    """The links to other languages open it: an address that only takes a form is a page that nobody can look at again."""
    methods: dict[str, set[str]] = {}
    for rule in samples.hub().url_map.iter_rules():
        methods.setdefault(rule.rule, set()).update(rule.methods or ())
    alone = {rule for rule, known in methods.items() if "POST" in known and "GET" not in known}
    assert {rule for rule in alone if not rule.endswith("/options")} == {"/switch-account"}  # scripts ask for options
