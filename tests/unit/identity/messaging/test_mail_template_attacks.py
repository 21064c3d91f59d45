"""Attacks on mail templates: an HTML5 parser that is not ours finds nothing in a sanitized template that is not allowed."""

from __future__ import annotations

import re
from time import process_time

import nh3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.contract.messages.models import MailKind, MailTemplate
from app.identity.messaging.tenant_templates import allowed_html
from app.identity.messaging.tenant_templates.sanitized_html import sanitize
from app.identity.messaging.tenant_templates.template_rendering import TenantEmailTemplate

_ACTIVE = """
    script svg math mtext mglyph mi desc foreignobject annotation-xml iframe frame frameset object embed applet form input button
    textarea select option template xmp plaintext noembed noframes link base video audio source
"""
ACTIVE = frozenset(_ACTIVE.split())
EVENTS = frozenset(["onclick", "onerror", "onload", "onx", "action", "formaction", "srcdoc", "srcset"])
SCHEMES = frozenset(["http", "https", "mailto", "tel"])
HARMFUL_SCHEMES = frozenset(["javascript", "data", "vbscript", "file"])
MXSS = "</style></title></textarea><script>1</script>--><img src=x onerror=1>"
TEXTS = (
    "a", "\n", "\x0b", "\r", "\x00", "&#0;", "&lt;script&gt;1&lt;/script&gt;", "--&gt;", "&amp;lt;", "<br>", "<!-- note -->",
    f"<img src='https://a.example/' alt='{MXSS}'>", f"<p title=\"{MXSS}\">a</p>", "<p data-x='`'>a</p>",
)  # fmt: skip
LONE = (
    "</p>", "<p>", "<b>", "<style>", "<title>", "<svg>", "<math>", "<mtext>", "<noscript>", "<xmp>", "<!--", "-->", "--!>", "<!-->",
    "<!x>", "<?x>", "</ x>", "<p/onclick=x>", "<p\x0conclick=x>", "<p title='x'onclick=x>", "<p title=a/onclick=x>", "<a href=//x>",
)  # fmt: skip
AROUND = (
    ("<p>", "</p>"), ("<b>", "</b>"), ("<table>", "</table>"), ("<tr>", "</tr>"), ("<td>", "</td>"), ("<caption>", "</caption>"),
    ("<pre>", "</pre>"), ("<li>", "</li>"), ("<h1>", "</h1>"), ("<font>", "</font>"), ("<style>", "</style>"), ("<title>", "</title>"),
    ("<a href='https://a.example/'>", "</a>"), (f'<div title="{MXSS}">', "</div>"), ("<!--[if mso]>", "<![endif]-->"),
    ("<!--[if !mso]><!-->", "<!--<![endif]-->"), ("<![if !mso]>", "<![endif]>"), ("<html><head>", "</head><body></body></html>"),
    ("<html><body>", "</body></html>"),
)  # fmt: skip
PIECES = st.recursive(
    st.sampled_from(TEXTS) | st.sampled_from(LONE),
    lambda inner: st.builds(
        lambda around, pieces: f"{around[0]}{''.join(pieces)}{around[1]}",
        st.sampled_from(AROUND),
        st.lists(inner, max_size=3),
    ),
    max_leaves=12,
)


def read_by_html5(html: str, *, also_harmful: bool) -> str:
    """Return what a parser as that of browsers leaves of the HTML."""
    elements = allowed_html.ELEMENTS | allowed_html.OFFICE_ELEMENTS.keys()
    return nh3.clean(
        html,
        tags={*elements, *(ACTIVE if also_harmful else ())},
        clean_content_tags=set(),
        attributes={"*": {*allowed_html.ATTRIBUTES, *(EVENTS if also_harmful else ())}},
        generic_attribute_prefixes=set(allowed_html.ATTRIBUTE_PREFIXES),
        url_schemes={*SCHEMES, *(HARMFUL_SCHEMES if also_harmful else ())},
        link_rel=None,
    )


def assert_nothing_harmful_is_left(template: str) -> None:
    html = "".join(part for part in sanitize(template).parts if isinstance(part, str))
    for read in (html, *re.findall(r"<!--\[if[^\]]*\]>(.*?)<!\[endif\]-->", html, re.DOTALL)):
        assert read_by_html5(read, also_harmful=True) == read_by_html5(read, also_harmful=False)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(PIECES, max_size=4).map("".join))
def test_allowed_template_has_nothing_else_to_html5(template: str) -> None:
    if not sanitize(template).problems:
        assert_nothing_harmful_is_left(template)


@pytest.mark.parametrize(
    "html",
    [
        f'<p title="{MXSS}">a</p>',
        f"<html><head><title>{MXSS.replace('<', '&lt;')}</title></head><body></body></html>",
        f"<!--[if mso]><p title='{MXSS.replace('-->', '--&gt;')}'>a</p><![endif]-->",
        f'<html><head><style media="{MXSS}">p{{}}</style></head><body></body></html>',
        "<table><p>a</p><tr><td>b</td></tr></table>",
        "<p>&lt;img src=x onerror=1&gt; &amp;lt;script&amp;gt;</p>",
        "<pre>\n\n&lt;/pre&gt;</pre>",
    ],
)
def test_nested_contexts_stay_text(html: str) -> None:
    assert sanitize(html).problems == ()
    assert_nothing_harmful_is_left(html)


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ("<math><mtext><table><mglyph><style><img src=x onerror=1></style></mglyph></table></mtext></math>", "<math>"),
        ("<svg><style><img src=x onerror=1></style></svg>", "<svg>"),
        ("<svg><desc><p>a</p></desc></svg>", "<svg>"),
        ("<noscript><p title='</noscript><img src=x onerror=1>'>a</p></noscript>", "<noscript>"),
        ("<xmp><p title='</xmp><img src=x onerror=1>'>a</p></xmp>", "<xmp>"),
        ("<template><p>a</p></template>", "<template>"),
        ("<a href='data:text/html,x'>a</a>", "a whole web address in href"),
        ("<a href='vbscript:x'>a</a>", "a whole web address in href"),
        ("<a href='java\tscript:x'>a</a>", "a whole web address in href"),
        ("<img src='data:image/svg+xml,x' alt=''>", "a picture at an https address"),
        ("<td background='data:image/png;base64,AA'>a</td>", "a picture at an https address"),
        ("<p style='background:URL ( javascript:x )'>a</p>", "a style without"),
        ("<p style='background:url(\"https://a.example/\\22\")'>a</p>", "a style without"),
        ("<p style='width:expression (1)'>a</p>", "a style without"),
        ("<p style='background:&#117;rl(//a.example/x)'>a</p>", "a style without"),
        ("<p style='-moz-binding:none'>a</p>", "a style without"),
        ("<p>a</p><!-- b --!><script>c</script>", "&lt; in the place of <"),
        ("<p>a</p><!--[if mso]><p>b", "&lt; in the place of <"),
        ("<p>a</p><!-- b <p>c</p>", "&lt; in the place of <"),
    ],
)
def test_active_content_is_refused(html: str, problem: str) -> None:
    assert problem in " | ".join(str(found) for found in sanitize(html).problems)


@pytest.mark.parametrize(
    "html",
    [
        "<p>" * 33_000,
        "<svg>" * 20_000,
        "<" * 100_000,
        "<!--[if mso]>" + "<b>" * 30_000 + "<![endif]-->",
        "<td></td><div></div>" * 4_900,
        "<p " + "".join(f"a{number}=1 " for number in range(11_000)) + ">",
        "<p style='" + "url(" * 24_000 + "'>",
        "<style>" + "/*" * 49_000 + "</style>",
    ],
    ids=["levels", "elements", "brackets", "conditional", "line_breaks", "attributes", "urls", "style_comments"],
)
def test_longest_template_is_read_within_a_second(html: str) -> None:
    template = TenantEmailTemplate(
        MailTemplate.model_validate({"type": MailKind.WELCOME, "subject": "Hi", "html": html})
    )
    before = process_time()
    found = template.problems(())
    assert process_time() - before < 1
    assert len(" ".join(problem for _, problem in found)) < 3_000
