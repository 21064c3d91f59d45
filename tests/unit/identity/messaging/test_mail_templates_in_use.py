"""Mail templates as designers and mail builders write them: harmless markup is sent unchanged, and each problem has its line."""

from __future__ import annotations

import re

import pytest

from app.contract.messages.models import MailKind, MailTemplate
from app.contract.tenants.branding import Brand
from app.identity.messaging.message import Branding, RenderedMessage
from app.identity.messaging.tenant_templates.placeholders import SECTIONS
from app.identity.messaging.tenant_templates.template_rendering import TenantEmailTemplate
from app.kit.text.languages import LANGUAGES

VALUES = {"Url": "https://acme.example.com/verify?a=1&vtoken=t0ken", "Name": "Tom --> & <Ada>"}
HEAD = '<!doctype html><html lang="en"><head>{}</head><body><p><a href="#Url#">Go</a></p></body></html>'
BODY = '<html><head></head><body>{}<p><a href="#Url#">Go</a></p></body></html>'
BUILT = """\
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html lang="en" xmlns="http://www.w3.org/1999/xhtml"
  xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
  <meta http-equiv="Content-Type" content="text/html; charset=utf-8" />
  <!--[if !mso]><!-->
  <meta http-equiv="X-UA-Compatible" content="IE=edge">
  <!--<![endif]-->
  <!--[if gte mso 9]><xml>
    <o:OfficeDocumentSettings><o:AllowPNG/><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings>
  </xml><![endif]-->
  <!--[if lte mso 11]><style type="text/css">.wide { width:100% !important; }</style><![endif]-->
  <style type="text/css" media="screen and (min-width:480px)">.wide { background:url('https://a.example/b.png') }</style>
</head>
<body style="background:#eee" bgcolor="#eeeeee" link="#222222">
  <!--[if mso | IE]><table role="presentation" width="600"><tr><td><![endif]-->
  <div aria-roledescription="email" data-test="x"><p>Hello #Name#</p></div>
  <!--[if mso | IE]></td><td><![endif]-->
  <![if !mso]><p><a href="#Url#">Go</a></p><![endif]>
  <!--[if mso]><v:roundrect href="#Url#" arcsize="10%" stroke="f" fillcolor="#d62828" style="height:40px;v-text-anchor:middle;">
    <w:anchorlock/><center>#Name#</center></v:roundrect><![endif]-->
  <!--[if mso | IE]></td></tr></table><![endif]-->
</body>
</html>
"""


def template(html: str) -> TenantEmailTemplate:
    return TenantEmailTemplate(MailTemplate.model_validate({"type": MailKind.RESET, "subject": "Hi", "html": html}))


def rendered(html: str) -> RenderedMessage:
    made = template(html)
    assert made.problems(()) == []
    return made.render(Branding("Acme", Brand()), VALUES, LANGUAGES["en"], SECTIONS)


def problems(html: str) -> list[str]:
    return [sentence for _, sentence in template(html).problems(())]


@pytest.mark.parametrize(
    "html",
    [
        HEAD.format('<meta charset="utf-8">'),
        HEAD.format('<META CHARSET="UTF-8"/>'),
        HEAD.format('<style type="text/css" media="all">p{color:#222}</style>'),
        HEAD.format("<style>@font-face{font-family:a;src:url(https://a.example/f.woff2)}</style>"),
        BODY.format(
            '<table summary="" bordercolor="#ddd"><tr><td nowrap background="https://a.example/b.png">a</td></tr></table>'
        ),
        BODY.format(
            '<div itemscope itemtype="https://schema.org/EmailMessage"><meta itemprop="name" content="a"></div>'
        ),
        BODY.format(
            '<p xml:lang="en"><del>a</del><ins>b</ins><wbr><time datetime="2026-11-28">c</time></p><a name="top" href="https://a.example/">x</a>'
        ),
        BODY.format("<!-- a designer's note -->"),
        BODY.format("<!--[if (gte mso 9)|(IE)]><p>a</p><![endif]-->"),
        BODY.format("<!--[if !mso]><!-- --><p>a</p><!-- <![endif]-->"),
    ],
)
def test_harmless_html_is_allowed(html: str) -> None:
    assert rendered(html).html


def test_template_of_a_mail_builder_is_sent_as_written() -> None:
    message = rendered(BUILT)
    for fragment in (
        'xmlns:o="urn:schemas-microsoft-com:office:office"',
        '<!--[if mso | IE]><table role="presentation" width="600"><tr><td><![endif]-->',
        "<!--[if mso | IE]></td></tr></table><![endif]-->",
        "<o:AllowPNG></o:AllowPNG><o:PixelsPerInch>96</o:PixelsPerInch>",
        "<!--[if !mso]><!--><p><a href=",
        "</a></p><!--<![endif]-->",
        'media="screen and (min-width:480px)"',
    ):
        assert fragment in message.html
    assert message.text == "Hello Tom --> & <Ada>\n\nGo:\nhttps://acme.example.com/verify?a=1&vtoken=t0ken\n"


def test_value_cannot_end_a_conditional_comment() -> None:
    html = rendered(BODY.format("<!--[if mso]><p>#Name#</p><![endif]-->")).html
    assert re.findall(r"<!--.*?-->", html) == ["<!--[if mso]><p>Tom --&gt; &amp; &lt;Ada&gt;</p><![endif]-->"]


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        (HEAD.format('<meta charset="iso-8859-1">'), "iso-8859-1 (mails are sent in UTF-8)"),
        (HEAD.format('<meta http-equiv="refresh" content="0; url=https://a.example">'), "http-equiv=refresh"),
        (HEAD.format('<meta http-equiv="Content-Security-Policy" content="x">'), "http-equiv=Content-Security-Policy"),
        (HEAD.format('<meta http-equiv="content-type" content="text/html; charset=gb2312">'), "charset=gb2312"),
        (HEAD.format("<style>@import url(https://a.example/x.css);</style>"), "@import"),
        (BODY.format('<p background="http://a.example/b.png">a</p>'), "a picture at an https address"),
        (BODY.format("<!--[if mso]><script>a</script><![endif]-->"), "found <script>"),
        (BODY.format("<!--[if mso]><p onclick='x'>a</p><![endif]-->"), "an event, onclick"),
        (BODY.format("<!--[if mso]><v:rect href='javascript:a'></v:rect><![endif]-->"), "a whole web address in href"),
        (BODY.format("<!--[if mso]><v:image src='http://a.example/x'/><![endif]-->"), "a picture at an https address"),
        (BODY.format("<!--[if mso]></form><![endif]-->"), "found </form>"),
        (BODY.format("<!--[if mso]><p style='behavior:url(#x)'>a</p><![endif]-->"), "a style without"),
        (BODY.format("<!--[if mso]><style>p{}--!></style><![endif]-->"), "(in its line 1)"),
        (BODY.format("<!--[if mso]><p>a</p>-->"), "<!--[if mso]>…<![endif]-->, or"),
        (BODY.format("<!--[if mso]><!--[if mso]><p>a</p><![endif]--><![endif]-->"), "no other <![ … ]>"),
        (BODY.format("<!--[if evil()]><p>a</p><![endif]-->"), "no other <![ … ]>"),
        (BODY.format("<!--[if !mso]><!--><p>a</p>"), "<!--<![endif]--> after <!--[if …]><!-->"),
        (BODY.format("<p>a</p><!--<![endif]-->"), "<!--[if …]><!--> before <!--<![endif]-->"),
        (BODY.format("<v:rect></v:rect>"), "found <v:rect>"),
        ("<!--[if mso]><a href='#Url#'>Go</a><![endif]-->", "#Url# also in what other mail programs than Outlook show"),
        ("<p>#Url#</p><!--[if mso]><p>#OTP#</p><![endif]-->", "#OTP# also in what other mail programs"),
    ],
)
def test_harmful_html_is_refused(html: str, problem: str) -> None:
    assert problem in " | ".join(problems(html))


def test_all_problems_are_reported_with_their_lines() -> None:
    lines = [
        "<p>#Url#</p>",
        "<script>a</script>",
        "<![CDATA[a]]>",
        "<link rel='x'>",
        "<!--[if mso]>",
        "<b>a</b>",
        "<form></form>",
    ]
    found = problems("\n".join([*lines, "<![endif]-->", "<p onclick='a'>a</p>", "<img src='x' alt=''>"]))
    assert [re.search(r"in its line (\d+)", problem)[1] for problem in found] == ["2", "3", "4", "7", "7", "9", "10"]  # type: ignore[index]  # each has a line


def test_more_than_twenty_problems_are_counted_out() -> None:
    found = problems("<p>#Url#</p>" + "<script></script>\n" * 30)
    assert len(found) == 21
    assert "the others aren't listed" in found[-1]


@pytest.mark.parametrize(
    "html", ["<!--[if " + "9" * 60_000, "<!--[if mso]>" * 499, "<![if " * 400 + "9" * 50_000, "<![" * 499]
)
def test_odd_conditions_are_read_in_linear_time(html: str) -> None:
    assert 0 < len(problems(html)) <= 22
