"""Checks for every sample of every page in every language."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html import unescape

import pytest

from app.hub.locale import LANGUAGES
from app.hub.theme_check import page_rules
from app.hub.theme_check.document import PageDocument
from app.hub.theme_check.review import without_words
from app.hub.theme_check.samples import FIRST_FLIGHT_BYTES, PageSample
from app.kit.package_files import STATIC
from tests.support.browsers import page_samples, theme_samples
from tests.support.browsers.page_checkers import html_problems

MAX_REQUESTS = 3

PREVIEW = re.compile(r'<iframe src="(?:about:blank|/theme-preview/[^"]*)"[^>]*>')
SIGN_OUTS = ("SignedOutPage", "FormPostPage")
"""Pages that load the sign-out addresses of applications in frames."""
AS_WRITTEN = re.compile(r'<label[^>]* translate="no"[^>]*>[^<]*</label>|<input[^>]* translate="no"[^>]*>')
"""Texts with their placeholders, for people who change them."""
_TAG = re.compile(r'<([A-Za-z][A-Za-z0-9]*)((?:\s[^"<>]*(?:"[^"]*"[^"<>]*)*)?)>')
_TAG_BEGINS = re.compile(r"<[A-Za-z]")
_ATTRIBUTE = re.compile(r'([^\s="/>]+)(?:="([^"]*)")?')


class Elements:
    """The elements of a page that `test_every_page_is_valid_html` accepts, each with its attributes."""

    def __init__(self, html: str) -> None:
        self.found = [_element(tag, attributes) for tag, attributes in _TAG.findall(html)]
        assert len(self.found) == len(_TAG_BEGINS.findall(html)), "a tag is written in another way"

    def all(self, *tags: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.found if tag in tags]


@cache  # most elements stand on many pages
def _element(tag: str, attributes: str) -> tuple[str, dict[str, str]]:
    return tag, {name.lower(): unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}


@cache
def elements_in(html: str) -> Elements:
    return Elements(html)


OURS = "ours"


@pytest.fixture(scope="module", params=[OURS, *theme_samples.THEMES])
def pages(request: pytest.FixtureRequest) -> list[PageSample]:
    """Our pages in every state and language, and those of the example themes that show each element."""
    theme: str = request.param
    if theme == OURS:
        return page_samples.all_rendered()
    return [theme_samples.rendered(theme, place) for place in theme_samples.in_turn(theme)]


@pytest.fixture(scope="module")
def our_pages() -> list[PageSample]:
    return page_samples.all_rendered()


def test_known_pages_have_samples() -> None:
    assert {"LoginPage", "ConsentPage", "ErrorPage", "ProfilePage", "SecurityPage", "UnknownTenantPage"} <= {
        page for page, _ in page_samples.names()
    }


def test_every_page_is_valid_html(pages: list[PageSample]) -> None:
    different = {without_words(page.html): page for page in pages}
    assert html_problems({page.name: page.html for page in different.values()}) == []


def test_every_page_fits_into_the_first_flight(our_pages: list[PageSample]) -> None:
    assert {page.name: page.bytes_all_in for page in our_pages if page.bytes_all_in > FIRST_FLIGHT_BYTES} == {}
    assert {page.name: page.requests for page in our_pages if page.requests > MAX_REQUESTS} == {}


@pytest.mark.parametrize("theme", theme_samples.THEMES)
def test_documents_of_themes_fit_into_the_first_flight(theme: str) -> None:
    """A theme's style sheet is one request more."""
    found = [theme_samples.rendered(theme, place) for place in theme_samples.in_turn(theme)]
    assert {page.name: page.bytes_document for page in found if page.bytes_document > FIRST_FLIGHT_BYTES} == {}
    assert {page.name: page.requests for page in found if page.requests > MAX_REQUESTS + 1} == {}


def test_every_page_names_its_language_and_direction(pages: list[PageSample]) -> None:
    for page in pages:
        root = elements_in(page.html).all("html")[0]
        assert (root["lang"], root["dir"]) == (page.language, LANGUAGES[page.language].direction), page.name
        assert page.headers["Content-Language"] == page.language


def test_every_page_has_a_title(pages: list[PageSample]) -> None:
    for page in pages:
        assert re.search(r"<title>[^<]{3,}</title>", page.html), page.name


def test_markup_of_every_page_keeps_the_rules_of_themes(pages: list[PageSample]) -> None:
    """Ids are unique, references resolve, fields have labels, forms are closed, and there is one heading."""
    different = {without_words(page.html): page for page in pages}
    found = {page.name: [*page_rules.markup_problems(PageDocument(page.html))] for page in different.values()}
    assert {name: sentences for name, sentences in found.items() if sentences} == {}


BUTTON = re.compile(r"<button\b([^>]*)>(.*?)</button>", re.DOTALL)


def test_buttons_of_a_page_have_names_that_differ(pages: list[PageSample]) -> None:
    """With scripts; those that no person reaches have none."""
    for page in pages:
        html = re.sub(r"<noscript>.*?</noscript>", "", page.html, flags=re.DOTALL)
        reached = [(_element("button", attributes)[1], text) for attributes, text in BUTTON.findall(html)]
        names = Counter(
            attributes.get("aria-label") or " ".join(re.sub(r"<[^>]*>", " ", text).split())
            for attributes, text in reached
            if not {"aria-hidden", "hidden"} & attributes.keys()
        )
        assert [name for name, count in names.items() if count > 1 or not name] == [], page.name


def test_every_own_form_carries_a_csrf_token(pages: list[PageSample]) -> None:
    for page in pages:
        for form in re.findall(r"<form.*?</form>", page.html, re.DOTALL):
            if 'action="/' in form:
                assert re.search(r'name="token" value="[\w-]{43}"', form), page.name


def test_pages_reload_without_scripts_only(pages: list[PageSample]) -> None:
    leaving = ("ReturnToAppPage", "WorkflowRedirectPage")  # to an app, to another site
    reloading = [page for page in pages if 'http-equiv="refresh"' in page.html and not page.name.startswith(leaving)]
    assert {page.name.partition(" ")[0] for page in reloading} == {"PhoneSignInPage"}
    for page in reloading:
        assert 'http-equiv="refresh"' not in re.sub(r"<noscript>.*?</noscript>", "", page.html), page.name


def test_inline_scripts_and_styles_need_the_nonce(pages: list[PageSample]) -> None:
    for page in pages:
        assert "unsafe" not in page.policy, page.name
        nonce = re.search(r"script-src 'nonce-([\w-]{16})'[^;]*; style-src 'nonce-([\w-]{16})'", page.policy)
        assert nonce, page.name
        for element in elements_in(page.html).all("script", "style"):
            assert element["nonce"] == nonce[1], page.name
        for part in ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"):
            assert part in page.policy or "FormPost" in page.name, page.name


def test_pages_cannot_be_framed(pages: list[PageSample]) -> None:
    """RFC 6749 section 10.13, RFC 9700 section 4.16."""
    for page in pages:
        assert page.headers["X-Frame-Options"] == "DENY", page.name
        assert "frame-ancestors 'none'" in page.policy, page.name


def test_pages_load_only_own_resources(pages: list[PageSample]) -> None:
    """Except the sign-out addresses of applications, and previews of this host, which frames load."""
    for page in pages:
        html = PREVIEW.sub("", page.html)
        if page.name.startswith(SIGN_OUTS):
            html = re.sub(r"<iframe[^>]*>", "", html)
        fetched = re.findall(r'(?:src|<link[^>]* href)="([^"]+)"', html)
        assert [part for part in fetched if not part.startswith(("/static/", "/theme/", "data:"))] == [], page.name


def test_only_captcha_widgets_allow_third_party_scripts(pages: list[PageSample]) -> None:
    for page in pages:
        allowed = re.findall(r"(?:script|style|frame|connect)-src[^;]*https?:", page.policy)
        frames = ["frame-src https:"] if page.name.startswith(SIGN_OUTS) and "<iframe" in page.html else []
        assert len(allowed) == 4 if "data-widget" in page.html else allowed == frames, page.name


def test_every_captcha_widget_has_a_sample(our_pages: list[PageSample]) -> None:
    shown = {name for page in our_pages for name in re.findall(r'data-widget="(\w+)"', page.html)}
    assert shown == {"recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent"}


def test_title_of_a_page_with_an_alert_begins_with_error(pages: list[PageSample]) -> None:
    for page in pages:
        if 'role="alert"' in page.html:
            assert re.search(r"<title>(Error|Fehler|خطأ): ", page.html), page.name


def test_no_two_languages_show_the_same_page() -> None:
    for name, state in page_samples.names():
        pages = [page_samples.rendered(name, state, tag).html for tag in LANGUAGES]
        headings = {re.sub(r"<.*?>", "", re.findall(r"<main.*?</main>", page, re.DOTALL)[0]).strip() for page in pages}
        assert len(headings) == len(LANGUAGES), f"{name} {state}"


def test_no_placeholder_is_left_in_a_text(pages: list[PageSample]) -> None:
    for page in pages:
        html = AS_WRITTEN.sub("", re.sub(r"<style.*?</style>", "", page.html, flags=re.DOTALL))
        assert not re.search(r"%\(\w+\)|\{\w+\}", html), page.name


def test_pages_are_not_cached_nor_indexed(pages: list[PageSample]) -> None:
    for page in pages:
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["X-Robots-Tag"] == "none"
        assert page.headers["Referrer-Policy"] == "no-referrer"


def forms_of(page: PageSample) -> list[Elements]:
    return [Elements(form) for form in re.findall(r"<form.*?</form>", page.html, re.DOTALL)]


def test_password_fields_have_autocomplete_and_username(pages: list[PageSample]) -> None:
    for page in pages:
        for form in forms_of(page):
            tokens = [field.get("autocomplete", "") for field in form.all("input")]
            hidden = [field for field in form.all("input") if field.get("type") == "password"]
            for pin in (field for field in hidden if field.get("name") == "pin"):
                assert pin.get("autocomplete") == "one-time-code", "a password manager must not save it as the password"
            secrets = [field for field in hidden if field.get("name") != "pin"]
            for field in secrets:
                assert field.get("autocomplete") in ("current-password", "new-password"), page.name
            if secrets:
                assert {"username", "username webauthn"} & set(tokens), f"{page.name}: whose password?"


def test_nothing_blocks_paste_or_password_managers(pages: list[PageSample]) -> None:
    for page in pages:
        assert not re.search(r'\son(paste|copy|drop|input|key\w+)=|maxlength="[1-6]"', page.html), page.name
        for field in elements_in(page.html).all("input"):
            if field.get("autocomplete") == "off":
                assert re.fullmatch(r"captcha|number|security_answer|answer_\d+|answer\.\w+", field["name"]), page.name


def test_code_fields_use_the_numeric_keyboard(pages: list[PageSample]) -> None:
    for page in pages:
        for field in elements_in(page.html).all("input"):
            if field.get("name") == "code" and field.get("type") != "hidden":
                assert (field["autocomplete"], field["inputmode"], field["dir"]) == ("one-time-code", "numeric", "ltr")


def test_errors_are_linked_to_their_fields(pages: list[PageSample]) -> None:
    for page in pages:
        fields = {
            field["id"]: field for field in elements_in(page.html).all("input", "select", "textarea") if "id" in field
        }
        wrong = {name for name, field in fields.items() if field.get("aria-invalid") == "true"}
        is_short = sum(field.get("type") != "hidden" for field in fields.values()) <= 4
        linked = set(re.findall(r'<a href="#(?!main)([\w-]+)">', page.html))
        assert linked == (wrong if "captcha" in wrong or (len(wrong) > 1 and not is_short) else set()), page.name
        for name in wrong:
            assert f"{name}-problem" in fields[name]["aria-describedby"].split(), page.name
            assert f'id="{name}-problem"' in page.html, page.name


def test_error_summary_takes_the_focus(pages: list[PageSample]) -> None:
    for page in pages:
        for element in (
            attributes for _, attributes in elements_in(page.html).found if attributes.get("id") == "summary"
        ):
            assert "autofocus" in element, page.name
            assert element["tabindex"] == "-1", page.name


def test_first_wrong_field_takes_the_focus(pages: list[PageSample]) -> None:
    """Its error is read with it. A notice above the form goes first."""
    by_count: Counter[int] = Counter()
    for page in pages:
        elements = elements_in(page.html)
        wrong = [attributes for _, attributes in elements.found if attributes.get("aria-invalid") == "true"]
        focused = [attributes for _, attributes in elements.found if "autofocus" in attributes]
        if wrong and not any(attributes.get("id") == "summary" for _, attributes in elements.found):
            assert [attributes["id"] for attributes in focused] == [wrong[0]["id"]], page.name
            assert re.search(r"<title>(Error|Fehler|خطأ): ", page.html), page.name
            by_count[len(wrong)] += 1
    assert by_count[1]
    assert by_count[2]


@pytest.mark.parametrize(
    ("name", "state", "focused"),
    [
        ("LoginPage", "fresh", "identifier"),
        ("LoginPage", "with a hint", "password"),
        ("LoginPage", "reauthentication", "password"),
        ("LockedLoginPage", "captcha expired", "password"),
        ("HumanCheckPage", "checking", ""),
        ("LoginPage", "identifier first", "identifier"),
        ("LoginPage", "identifier first, changed", "identifier"),
        ("LoginPage", "password then", "password"),
        ("RegisterPage", "fresh", "email"),
        ("RegisterPage", "every kind of field", "first_name"),
        ("ForgotPage", "fresh", "identifier"),
        ("ResetPage", "fresh", "password"),
        ("SecondFactorPage", "totp, enrolled", "code"),
        ("CheckMailPage", "fresh", "code"),
        ("ChangePasswordPage", "fresh", "old_password"),
        ("AddEmailPage", "fresh", "email"),
        ("ReauthenticationPage", "fresh", "password"),
        ("LoginPage", "blocked", ""),
        ("VerifyPage", "awaited in another browser", ""),
        ("DeleteAccountPage", "fresh", ""),
    ],
)
def test_first_empty_field_takes_the_focus(name: str, state: str, focused: str) -> None:
    found = elements_in(page_samples.rendered(name, state, "en").html).found
    assert "".join(attributes["id"] for _, attributes in found if "autofocus" in attributes) == focused


def test_tab_order_follows_document_order(pages: list[PageSample]) -> None:
    for page in pages:
        indexes = {attributes.get("tabindex", "0") for _, attributes in elements_in(page.html).found}
        assert indexes <= {"0", "-1"}, page.name


def test_no_page_is_a_dead_end(pages: list[PageSample]) -> None:
    """Every page except the error pages has a link or a button in its main part."""
    for page in pages:
        main = re.findall(r"<main.*?</main>", page.html, re.DOTALL)[0]
        controls = Elements(main).all("a", "button")
        assert controls or page.name.startswith(("UnknownTenantPage", "ErrorPage")), page.name


def test_first_button_of_a_form_is_its_main_one(pages: list[PageSample]) -> None:
    """Browsers submit with the first button, so it must be the form's main one. The one without scripts replaces it."""
    for page in pages:
        for form in forms_of(replace(page, html=re.sub(r"<noscript>.*?</noscript>", "", page.html))):
            buttons = [item["class"] for item in form.all("button") if item.get("type") == "submit" and "class" in item]
            typed = [item for item in form.all("input") if item.get("type") not in ("hidden", "checkbox")]
            if typed and len(buttons) > 1:
                assert "button--plain" not in buttons[0], page.name
            filled = sum("button--plain" not in button for button in buttons if button.startswith("button"))
            shown_in_turn = {"by-passkey", "by-password"} & {item.get("class") for item in form.all("div")}
            assert filled <= (len(shown_in_turn) or 1), page.name


def test_tenant_colours_are_set_in_the_head(pages: list[PageSample]) -> None:
    for page in pages:
        head, _, body = page.html.partition("<body")
        assert "--brand:" in head, page.name
        assert "<style" not in body, page.name


def test_pages_install_nothing_on_the_device(pages: list[PageSample]) -> None:
    """No web app manifest and no service worker."""
    for page in pages:
        assert "serviceWorker" not in page.html, page.name
        assert 'rel="manifest"' not in page.html, page.name


def test_scripts_use_es5_syntax_only() -> None:
    """One unknown token stops the whole file in an older browser."""
    newer = re.compile(r"=>|`|\?\?|\?\.(?!\d)|\|\|=|&&=|\*\*|\b(?:let|const|class|async|await|import|export)\b")
    found = {}
    for path in sorted((STATIC / "js").glob("*.js")):
        code = re.sub(r"//.*", "", path.read_text())
        if tokens := newer.findall(re.sub(r'"[^"\n]*"', '""', code)):
            found[path.name] = tokens
        assert "localStorage" not in code, path.name
        assert "sessionStorage" not in code, path.name
    assert found == {}


def test_every_post_address_answers_get_too() -> None:
    """The language links open a page with GET, so every posted address must answer GET."""
    methods: dict[str, set[str]] = {}
    for rule in page_samples.hub().url_map.iter_rules():
        methods.setdefault(rule.rule, set()).update(rule.methods or ())
    alone = {rule for rule, known in methods.items() if "POST" in known and "GET" not in known}
    of_scripts, of_providers = (
        {"/switch-account"},
        {rule for rule in alone if rule.startswith("/saml/serviceprovider/")},
    )
    assert {rule for rule in alone if not rule.endswith("/options")} - of_providers == of_scripts
