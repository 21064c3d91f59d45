"""Configuration files: a value without effect is refused."""

from pathlib import Path

import pytest

from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError

SHIPPED_LANGUAGES = "a language of the pages: en, de, ar"
FILE = "an https address, a file of the theme such as img/NAME.jpg, or a path of this host such as /theme/NAME"
FONTS = "font names between commas, such as Inter, Arial, sans-serif"
NETWORK = "an address or a network such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"
WEB = "a web address such as https://www.example.com/page"
WITH_CODE = "redirect_uris: ['https://a.example/cb']"


def problems(part: str) -> list[str]:
    """The problems of one part of a tenant, without the place that they all share."""
    try:
        read(f"tenants:\n  - name: acme\n    {part}\n".encode(), "f.yaml", Path())
    except ConfigurationError as refused:
        return [str(problem).removeprefix("f.yaml:3: tenants[0].") for problem in refused.problems]
    return []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("denied_ips: [127.0.0.0/8, 10.0.0.0/33]", f"denied_ips[1]: expected {NETWORK}; found '10.0.0.0/33'"),
        ("allowed_ips: [foo]", f"allowed_ips[0]: expected {NETWORK}; found 'foo'"),
        (
            "trial_ends_at: bla",
            "trial_ends_at: expected a date or time such as 2027-01-31 or 2027-01-31T18:00:00Z; found 'bla'",
        ),
        ("locales: [xx]", f"locales[0]: expected {SHIPPED_LANGUAGES}; found 'xx'"),
        ("locales: []", "locales: expected at least one language; found none"),
        ("locales: [en, en]", "locales: expected each entry once; found a list"),
        ("default_locale: fr", "default_locale: expected one of locales (en, de, ar); found 'fr'"),
        ("locales: [de]", "default_locale: expected one of locales (de); found 'en'"),
        (
            "password_policy: {min_length: 100, max_length: 20}",
            "password_policy.max_length: expected at least min_length, which is 100; found 20",
        ),
        ("custom_fields: [a, a]", "custom_fields: expected each entry once; found a list"),
        ("custom_objects: [{name: a}, {name: a}]", "custom_objects: expected each name and each id once; found a list"),
        (
            "custom_objects: [{name: a, id: x}, {name: b, id: x}]",
            "custom_objects: expected each name and each id once; found a list",
        ),
        (
            "consent_forms: [{event: Login, options: [{id: a, title: {en: A}}]}]",
            "consent_forms: expected a form for FirstLogin as well, because there is one for Login; found a list",
        ),
        (
            "consent_forms: [{event: login, options: [{id: a, title: {en: A}}]}]",
            "consent_forms[0].event: expected Register, FirstLogin or Login, spelled exactly like that, or a name of your own",
        ),
        ("custom_fields: [' ']", "custom_fields[0]: expected text, not only spaces; found ' '"),
        ("security_questions: {pet: ''}", "security_questions.pet: expected text, not only spaces; found ''"),
    ],
)
def test_setting_without_effect_is_refused(entry: str, problem: str) -> None:
    assert problems(f"settings: {{{entry}}}") == [f"settings.{problem}"]


@pytest.mark.parametrize(
    "entry",
    [
        "denied_ips: [127.0.0.1, 10.0.0.0/8, '2001:db8::/32', 192.168.7.9/24]",
        "trial_ends_at: 2027-01-31",
        "trial_ends_at: 2027-01-31T18:00:00Z",
        "locales: [ar, en]",
        "{locales: [de], default_locale: de}",
        "password_policy: {min_length: 20, max_length: 20}",
    ],
)
def test_setting_with_effect_is_accepted(entry: str) -> None:
    assert problems(f"settings: {{{entry.strip('{}') if entry.startswith('{') else entry}}}") == []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("links: {terms: foo}", f"links.terms: expected {WEB}; found 'foo'"),
        ("links: {terms: 'http://'}", f"links.terms: expected {WEB}; found 'http://'"),
        (
            "links: {imprint: 'https://a.example/'}",
            "links.imprint: expected a link that the pages have: privacy, terms, help; found 'imprint'",
        ),
        ("sentence: {fr: Bonjour}", f"sentence.fr: expected {SHIPPED_LANGUAGES}; found 'fr'"),
        (
            "logo: 'http://a.example/x.png'",
            (
                "logo: expected an https address, a file of the theme such as img/logo.svg, a path such as /theme/logo.svg, "
                "or an image as a data: URL; found 'http://a.example/x.png'"
            ),
        ),
        ("scene: dawn", "scene: expected one of dusk, daylight, picture, none; found 'dawn'"),
        ("scene: picture", "picture: expected the address of a picture, because scene is picture"),
        ("picture: /theme/a.jpg", "scene: expected picture, because picture is set; found 'dusk'"),
        (
            "picture: 'http://a.example/x.jpg', scene: picture",
            f"picture: expected {FILE}; found 'http://a.example/x.jpg'",
        ),
        ("picture: '//a.example/x.jpg', scene: picture", f"picture: expected {FILE}; found '//a.example/x.jpg'"),
        ("font_file: /theme/a.ttf", "font_file: expected the address of a woff2 file; found '/theme/a.ttf'"),
        ("font: 'Inter; color: red'", f"font: expected {FONTS}; found 'Inter; color: red'"),
        ("font: 'Inter, </style>'", f"font: expected {FONTS}; found 'Inter, </style>'"),
        (
            "background: '#808080'",
            "background: expected a color light enough for dark text, such as #faf7f0; found '#808080'",
        ),
        (
            "background_dark: '#808080'",
            "background_dark: expected a color dark enough for light text, such as #12131a; found '#808080'",
        ),
        ("button_shape: round", "button_shape: expected one of square, rounded, pill; found 'round'"),
    ],
)
def test_brand_that_pages_cannot_render_is_refused(entry: str, problem: str) -> None:
    assert problems(f"brand: {{{entry}}}") == [f"brand.{problem}"]


@pytest.mark.parametrize("logo", ["https://a.example/x.png", "/static/acme.svg", "data:image/png;base64,AAAA"])
def test_logo_that_pages_can_render_is_accepted(logo: str) -> None:
    assert problems(f"brand: {{logo: '{logo}'}}") == []


@pytest.mark.parametrize("key", ["client_uri", "policy_uri", "tos_uri", "logo_uri"])
@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "//x", "https://", "https://u:p@a.example/"]
)
def test_application_link_off_the_web_is_refused(key: str, address: str) -> None:
    (problem,) = problems(f"applications: [{{name: shop, {WITH_CODE}, {key}: '{address}'}}]")
    assert problem.startswith(f"applications[0].{key}: expected ")
    assert problem.endswith(f"; found '{address}'")


@pytest.mark.parametrize("key", ["client_uri", "policy_uri", "tos_uri", "logo_uri"])
def test_web_link_of_an_application_is_accepted(key: str) -> None:
    assert problems(f"applications: [{{name: shop, {WITH_CODE}, {key}: 'https://shop.example:8443/a?b=c#d'}}]") == []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            "grant_types: []",
            "grant_types: expected one beside refresh_token, which can't start a sign-in",
        ),
        (
            "grant_types: [refresh_token]",
            "grant_types: expected one beside refresh_token, which can't start a sign-in",
        ),
        ("response_types: []", "response_types: expected code, because grant_types has authorization_code"),
        (
            "response_types: [code, 'token id_token']",
            "grant_types: expected implicit too, because response_types has token or id_token",
        ),
        (
            "grant_types: [authorization_code, implicit]",
            "response_types: expected one with token or id_token, because grant_types has implicit",
        ),
        (
            "grant_types: [implicit], response_types: ['id_token code']",
            "grant_types: expected authorization_code too, because response_types has code",
        ),
        (
            "response_types: [token]",
            (
                "response_types: expected some of code, id_token, token id_token, code id_token, code token, code id_token token,"
                " because protocol is openid"
            ),
        ),
        ("scope: profile", "scope: expected a value that includes openid, because protocol is openid"),
        (
            "scope: 'openid account:read'",
            "scope: expected no account:read or account:write; interface_access grants them",
        ),
        (
            "grant_types: [client_credentials], interface_access: full",
            "interface_access: expected none, because grant_types has no authorization_code",
        ),
        ("interface_access: all", "interface_access: expected one of none, read, full; found 'all'"),
        (
            "resources: [orders]",
            "resources[0]: expected an absolute URI without a fragment (RFC 8707); found 'orders'",
        ),
        (
            "resources: ['https://orders.example/#x']",
            "resources[0]: expected an absolute URI without a fragment (RFC 8707); found 'https://orders.example/#x'",
        ),
        (
            "cors_origins: ['https://a.example:99999']",
            "cors_origins[0]: expected an address with a valid host and port; found 'https://a.example:99999'",
        ),
        (
            "cors_origins: ['https://[::1']",
            "cors_origins[0]: expected an address with a valid host and port; found 'https://[::1'",
        ),
    ],
)
def test_application_that_can_do_nothing_is_refused(entry: str, problem: str) -> None:
    assert problems(f"applications: [{{name: shop, {WITH_CODE}, {entry}}}]") == [f"applications[0].{problem}"]


def test_machine_application_needs_no_redirect_uri_and_no_openid() -> None:
    assert problems("applications: [{name: robot, grant_types: [client_credentials], scope: 'orders:read'}]") == []


@pytest.mark.parametrize("kind", ["email", "phone"])
def test_identifier_that_accounts_lack_is_not_verified(kind: str) -> None:
    assert problems(f"accounts: [{{username: ada, {kind}_verified: true}}]") == [
        f"accounts[0].{kind}_verified: expected false, because the account has no {kind}"
    ]


@pytest.mark.parametrize("username", ["a", "a" * 32])
def test_file_may_have_usernames_that_people_may_choose(username: str) -> None:
    assert problems(f"accounts: [{{username: {username}}}]") == []


@pytest.mark.parametrize("username", ["a" * 33, "a b", "a@b", "a\u200bb"])
def test_file_has_one_rule_for_usernames(username: str) -> None:
    expected = f"expected 1 to 32 visible characters without @; found {username!r}"
    assert problems(f'accounts: [{{username: "{username}"}}]') == [f"accounts[0].username: {expected}"]


TERMS_FORM = (
    "registration_form: [{name: email, required: true}, {name: password, type: password, required: true},"
    " {name: terms, type: multi, required: true}]"
)


def test_terms_that_must_be_accepted_have_a_link() -> None:
    (problem,) = problems(f"{TERMS_FORM}\n    brand: {{color: '#123456'}}")
    assert problem.endswith("brand: expected links.terms, the address of the terms that registration_form asks for")
    assert problems(f"{TERMS_FORM}\n    brand: {{links: {{terms: 'https://a.example/terms'}}}}") == []


def test_privacy_policy_that_must_be_accepted_has_a_link() -> None:
    policy = "settings: {privacy_policy: {versions: [{version: '1', starts_at: '2027-01-31T00:00:00Z'}]}}"
    (problem,) = problems(f"{policy}\n    brand: {{color: '#123456'}}")
    assert problem.endswith("brand: expected links.privacy, the address of the policy that privacy_policy asks for")
    assert problems(f"{policy}\n    brand: {{links: {{privacy: 'https://a.example/privacy'}}}}") == []
    assert problems(policy) == []


def test_terms_keep_the_link_of_a_brand_that_is_not_in_the_file() -> None:
    assert problems(TERMS_FORM) == []


@pytest.mark.parametrize(
    "entry",
    [
        "scene: picture, picture: /theme/hills.jpg",
        "scene: picture, picture: 'https://a.example/x.jpg?w=1'",
        "font: 'Inter, \"Source Sans 3\", sans-serif', font_file: /theme/inter.woff2",
        "background: '#faf6ee', background_dark: '#17130f'",
        "favicon: /theme/icon.svg, logo_dark: 'data:image/png;base64,AAAA', button_shape: pill",
    ],
)
def test_brand_that_pages_can_render_is_accepted(entry: str) -> None:
    assert problems(f"brand: {{{entry}}}") == []
