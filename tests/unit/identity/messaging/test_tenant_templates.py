"""Templates of a tenant: harmful ones are refused, and inserted values are never interpreted."""

from __future__ import annotations

import re

import pytest

from app.contract.messages.models import NEW_PLACE_TEXTS, MailKind, MailTemplate, SmsKind, TextMessageTemplate
from app.contract.tenants.branding import Brand
from app.identity.messaging.message import Branding, RenderedMessage
from app.identity.messaging.tenant_templates import placeholders
from app.identity.messaging.tenant_templates.placeholders import RenderError
from app.identity.messaging.tenant_templates.template_rendering import tenant_template
from app.kit.text.languages import LANGUAGES

LOOK = Branding("Acme", Brand())
DOCUMENT = "<html><head>{}</head><body></body></html>"
LINK = "https://acme.example.com/verify?vtype=emailverification&vtoken=t0ken"
VALUES = {"Url": LINK, "GUID": "t0ken", "OTP": "482913", "Name": "Ada", "Email": "ada@example.com"}


def mail(html: str, kind: MailKind = MailKind.WELCOME, subject: str = "Hi", **more: object) -> MailTemplate:
    return MailTemplate.model_validate({"type": kind, "subject": subject, "html": html, **more})


def drawn(
    html: str, kind: MailKind = MailKind.WELCOME, values: dict[str, str] | None = None, **more: object
) -> RenderedMessage:
    made = tenant_template(mail(html, kind, **more))  # type: ignore[arg-type]  # what a template may have
    assert made.problems(()) == []
    return made.render(LOOK, {**VALUES, **(values or {})}, LANGUAGES["en"], set(placeholders.SECTIONS))  # type: ignore[arg-type,call-arg,return-value]  # a mail


def wrong(html: str, kind: MailKind = MailKind.WELCOME, **more: object) -> str:
    return " | ".join(f"{key}: {sentence}" for key, sentence in tenant_template(mail(html, kind, **more)).problems(()))  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ("<script>alert(1)</script>", "found <script>"),
        ("<p onclick='x'>a</p>", "found an event, onclick"),
        ("<form action='https://evil.example'></form>", "found <form>"),
        ("<input>", "found <input>"),
        ("<iframe src='https://a.example'></iframe>", "found <iframe>"),
        ("<svg><a></a></svg>", "found <svg>"),
        ("<link rel='stylesheet' href='https://a.example'>", "found <link>"),
        ("<html><head><base href='https://a.example'></head><body></body></html>", "found <base>"),
        ("<html><head><meta http-equiv='refresh' content='0'></head><body></body></html>", "http-equiv"),
        ("<html><head><style>@import 'x'</style></head><body></body></html>", "styles without scripts, @import"),
        ("<p style='background:url(http://a.example/x)'>a</p>", "url() of anything but a picture"),
        ("<p style='background:url(data:image/png;base64,AA)'>a</p>", "url() of anything but a picture"),
        ("<p style='width:e\\78 pression(1)'>a</p>", "backslashes"),
        ("<p style='width:expr/**/ession(1)'>a</p>", "a style without scripts"),
        ("<p style='background:image-set(\"http://a.example/x\" 1x)'>a</p>", "url() of anything but a picture"),
        ("<p style='background:src(\"http://a.example/x\")'>a</p>", "url() of anything but a picture"),
        ("<p data-x\"onclick='x'>a</p>", 'found an attribute, data-x"onclick'),
        ("<p data-<script='x'>a</p>", "found an attribute, data-<script"),
        ("<!--[if mso]><v:fill v:src='file://evil/x'/><![endif]-->", "a picture at an https address"),
        ("<!--[if mso]><v:imagedata o:href='http://a.example/x'/><![endif]-->", "a picture at an https address"),
        ("<!--[if mso]><v:fill o:althref='//evil/x'/><![endif]-->", "a picture at an https address"),
        (DOCUMENT.format("<meta http-equiv='content-type' content='utf-8' charset='utf-7'>"), "sent in UTF-8"),
        ("<a href='javascript:alert(1)'>a</a>", "a whole web address in href"),
        ("<a href=' &#106;avascript:alert(1)'>a</a>", "a whole web address in href"),
        ("<a href='//evil.example'>a</a>", "a whole web address in href"),
        ("<a>a</a>", "<a> with a href"),
        ("<img src='data:image/png;base64,AA' alt=''>", "a picture at an https address"),
        ("<img src='https://a.example/x.png'>", "with an alt"),
        ("<p>a</b></p>", "</p>; found </b>"),
        ("<p>a", "</p> after <p>"),
        ("<p>a</p><a href='x", "&lt; in the place of <"),
        ("<p>a</p></a", "&lt; in the place of <"),
        ("<p>a</p><!-- a", "&lt; in the place of <"),
        ("<p>1 < 2 <p</p>", "in its line 1"),
        ("<style>p{}</style>", "<html> around the whole"),
        ("<p>a</p>\n<![else[a]]>", "no other <![ … ]> (in its line 2)"),
        ("<p><![CDATA[a]]></p>", "no other <![ … ]>"),
        ("<?php echo 1 ?>", "no instructions"),
        ("<p style='#Name#'>a</p>", "found #Name# in the attribute style"),
        ("<img src='#Url#' alt=''>", "a link in text or in href; found #Url# in the attribute src"),
        ("<p title='#Url#'>a</p>", "found #Url# in the attribute title"),
        ("<!-- #Url# -->", "found #Url# in comments"),
        ("<html><head><style>p{content:'#Url#'}</style></head><body></body></html>", "found #Url# in styles"),
        ("<a href='https://#Email#.example/'>a</a>", "a whole web address in href"),
        ("<a href='#Url#&more=1'>a</a>", "#Url# alone"),
        ("<p>#Nmae#</p>", "did you mean #Name#?"),
        ("<p>#name#</p>", "did you mean #Name#?"),
        ("<p>#OTP#</p>", "a placeholder of this kind; found #OTP#"),
        ("<p>#FPass a FPass#</p>", "no sections"),
    ],
)
def test_harmful_or_broken_template_is_refused(html: str, problem: str) -> None:
    assert problem in wrong(html)


@pytest.mark.parametrize("kind", [MailKind.VERIFICATION, MailKind.RESET, MailKind.ADD_EMAIL])
def test_template_without_its_required_value_is_refused(kind: MailKind) -> None:
    assert "#Url# or #OTP#, which" in wrong("<p>Hello</p>", kind)
    assert wrong("<p>#OTP#</p>", kind) == wrong("<a href='#Url#'>x</a>", kind) == wrong("<p>#GUID#</p>", kind) == ""
    assert "#OTP#, because carries is otp" in wrong("<a href='#Url#'>x</a>", kind, carries="otp")
    assert "text: #Url# and #OTP#, as in html" in wrong("<p>#Url# #OTP#</p>", kind, text="#OTP#")


def test_deletion_mail_needs_its_link() -> None:
    assert "#Url#, which" in wrong("<p>Hello</p>", MailKind.DELETE_ACCOUNT)
    assert "carries: nothing" in wrong("<p>Hello</p>", carries="link")


@pytest.mark.parametrize("subject", ["Hi\r\nBcc: eve@example.com", "Hi\nthere", "Hi\u2028", "Hi\x00"])
def test_subject_with_a_line_break_is_refused(subject: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        mail("<p>a</p>", subject=subject)


def test_subject_with_a_link_is_refused() -> None:
    assert "subject: no #Url# in a subject" in wrong("<p>a</p>", subject="See #Url#")


@pytest.mark.parametrize(
    "name",
    [
        "#Url#",
        "#Url#?vtype=reset&vtoken=#GUID#",
        "#OTP#",
        "{{ 7*7 }}",
        "<script>x</script>",
        "a & <b>",
        "\"'",
        "#FPass",
    ],
)
def test_inserted_value_is_not_expanded_again(name: str) -> None:
    message = drawn("<p>Hello #Name#</p><p>#Url#</p>", values={"Name": name}, subject="For #Name#")
    assert message.subject == f"For {name}"
    assert message.text.startswith(f"Hello {name}\n")
    assert message.html.count("t0ken") == message.text.count("t0ken") == 1
    assert "<script" not in message.html
    assert "49" not in message.subject


def test_values_are_escaped_in_html_and_not_in_text() -> None:
    message = drawn("<p>#Name#</p><a href='#Url#'>Go</a>", values={"Name": "Tom & <Ada>"})
    assert "Tom &amp; &lt;Ada&gt;" in message.html
    assert 'href="https://acme.example.com/verify?vtype=emailverification&amp;vtoken=t0ken"' in message.html
    assert "Tom & <Ada>" in message.text
    assert f"Go:\n{LINK}\n" in message.text


@pytest.mark.parametrize("bracket", ["&lt;", "&LT;", "&#60;", "&#x3c;"])
def test_escaped_bracket_is_text(bracket: str) -> None:
    message = drawn(f"<p>1 {bracket} 2</p><p>{bracket}b></p>")
    assert "1 &lt; 2" in message.html
    assert "&lt;b&gt;" in message.html
    assert "1 < 2" in message.text


def test_value_within_an_address_is_encoded() -> None:
    message = drawn("<a href='https://a.example/?e=#Email#'>x</a>", values={"Email": "a&b=c@x.example"})
    assert 'href="https://a.example/?e=a%26b%3Dc%40x.example"' in message.html


@pytest.mark.parametrize("form", ["#Url#?vtype=reset&vtoken=#GUID#", "#Url#?vtype=reset&amp;vtoken=#GUID#", "#Url#"])
def test_older_placeholder_of_the_link_works(form: str) -> None:
    message = drawn(f"<a href='{form}'>Go</a>", MailKind.RESET)
    assert message.text == f"Go:\n{LINK}\n"


def test_missing_name_leaves_no_gap() -> None:
    message = drawn("<p>Hello #Name#, and welcome #Name#</p>", values={"Name": ""})
    assert message.text == "Hello, and welcome\n"


def test_mail_without_its_link_is_not_rendered() -> None:
    with pytest.raises(RenderError):
        drawn("<a href='#Url#'>Go</a>", MailKind.RESET, {"Url": ""})


def test_empty_subject_is_not_rendered() -> None:
    with pytest.raises(RenderError):
        drawn("<p>a</p>", subject="#Name#", values={"Name": ""})


@pytest.mark.parametrize("name", ["Ada\r\nBcc: eve@example.com", "\u202eadA", "x" * 10_000])
def test_name_cannot_break_the_subject_line(name: str) -> None:
    subject = drawn("<p>a</p>", subject="For #Name#", values={"Name": name}).subject
    assert not re.search(r"[\r\n\u202a-\u202e]", subject)
    assert len(subject) <= 150


def test_paragraphs_are_framed_and_documents_are_sent_unchanged() -> None:
    framed = drawn("<h1>Hi</h1><p><a class='button' href='https://a.example/'>Go</a></p>").html
    assert framed.count("<html") == framed.count("<body") == 1
    assert 'class="card"' in framed
    assert re.search(r'<a class="button" href="https://a.example/" style="[^"]*background:#3b49d9', framed)
    complete = '<!doctype html><html lang="en"><head><title>#TenantName#</title></head><body><p>Hi</p></body></html>'
    assert drawn(complete, values={"TenantName": "Acme"}).html == complete.replace("#TenantName#", "Acme") + "\n"


@pytest.mark.parametrize(
    "html", ["<p>" * 33_000, "</p>" * 20_000, "<p></b>" * 14_000, "#FPass" * 16_000, "<!--" * 20_000]
)
def test_template_with_many_problems_gets_a_short_list(html: str) -> None:
    assert 0 < len(wrong(html, MailKind.RESET)) < 3_000


def test_missing_text_part_is_made_from_the_html() -> None:
    message = drawn(
        "<div style='display:none'>preview</div><h1>Hi  there</h1><table><tr><td>One</td></tr><tr><td>Two</td></tr></table>"
        "<ul><li>a</li><li>b</li></ul><p>See <a href='https://a.example/x'>our\npage</a>.<br>Bye</p>"
        "<p><a href='mailto:help@a.example'>Help</a> <a href='https://a.example/y'>https://a.example/y</a></p>"
    )
    assert message.text == (
        "Hi there\n\nOne\nTwo\n\n- a\n- b\n\nSee our page (https://a.example/x).\nBye\n\nHelp https://a.example/y\n"
    )


def test_sections_depend_on_the_account() -> None:
    html = "<p>#OTP#</p>#FPass <p>Password</p> FPass##FUName <p>Name</p> FUName#"
    made = tenant_template(mail(html, MailKind.RESET))
    assert made.problems(()) == []
    text = made.render(LOOK, VALUES, LANGUAGES["en"], {"FUName"}).text  # type: ignore[arg-type,call-arg,union-attr]  # a mail
    assert "Name" in text
    assert "Password" not in text
    assert "in its line" in wrong("<p>#OTP##FPass </p> FPass#", MailKind.RESET)
    assert "to begin and to end" in wrong("<p>#OTP# #FPass</p>", MailKind.RESET)


def test_custom_field_of_the_tenant_is_a_placeholder() -> None:
    made = tenant_template(mail("<p>#ShoeSize#</p>"))
    assert made.problems(("ShoeSize",)) == made.problems(None) == []
    assert "found #ShoeSize#" in made.problems(("Hat",))[0][1]


@pytest.mark.parametrize("kind", SmsKind)
def test_sms_template_without_its_code_is_refused(kind: SmsKind) -> None:
    problems = tenant_template(TextMessageTemplate(type=kind, text="Hello #Name#")).problems(())
    assert [key for key, _ in problems] == ([] if kind in (SmsKind.WELCOME, *NEW_PLACE_TEXTS) else ["text"])
    assert tenant_template(TextMessageTemplate(type=kind, text="a\x07b #GUID#")).problems(())[0] == (
        "text",
        "a placeholder of this kind; found #GUID#",
    )
