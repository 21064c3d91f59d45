"""Templates that run something in the browser, send what people type, or take the place of our elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import LOGIN, HostileTheme, in_lead

# fmt: off
MARKUP: Final[Mapping[str, HostileTheme]] = {
    # What runs in the browser
    "script": HostileTheme(
        in_lead("<script>alert(1)</script>"),
        problem="templates/pages/sign_in/login.html:2: expected no <script>: name the script in scripts of theme.yaml",
    ),
    "script in capitals": HostileTheme(
        in_lead("<ScRiPt>alert(1)</ScRiPt>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "script with a slash": HostileTheme(
        in_lead("<script/src=https://eve.example>"),
        problem="templates/pages/sign_in/login.html:2: expected no <script>: name the script in scripts of theme.yaml",
    ),
    "handler": HostileTheme(
        in_lead('<img src="/theme/a.png" alt="" onerror="alert(1)">'),
        problem="templates/pages/sign_in/login.html:2: expected no onerror: markup has no scripts",
    ),
    "handler after a slash": HostileTheme(
        in_lead('<img/onerror="alert(1)"/src="x">'),
        problem='templates/pages/sign_in/login.html:2: expected attributes as name="value" in <img>',
    ),
    "handler of a drawing": HostileTheme(
        in_lead('<svg onload="alert(1)"></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected no onload: markup has no scripts",
    ),
    "drawing with style": HostileTheme(
        in_lead("<svg><style>*{display:none}</style></svg>"),
        problem="templates/pages/sign_in/login.html:2: expected no <style>: put rules into the theme's css",
    ),
    "drawing with a script": HostileTheme(
        in_lead("<svg><script>alert(1)</script></svg>"),
        problem="templates/pages/sign_in/login.html:2: expected no <script>: name the script in scripts of theme.yaml",
    ),
    "drawing with HTML": HostileTheme(
        in_lead("<svg><foreignObject><p>x</p></foreignObject></svg>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "drawing with a link": HostileTheme(
        in_lead('<svg><a href="javascript:alert(1)"><path d="M0 0"/></a></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected shapes alone within <svg>",
    ),
    "drawing that animates a link": HostileTheme(
        in_lead('<svg><animate attributeName="href" to="javascript:alert(1)"/></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "drawing that uses another": HostileTheme(
        in_lead('<svg><use href="https://eve.example/a.svg#x"/></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected the shapes themselves",
    ),
    "drawing with a picture": HostileTheme(
        in_lead('<svg><image href="https://eve.example/a.png"/></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected shapes, gradients and clipPath",
    ),
    "drawing that loads a line": HostileTheme(
        in_lead('<svg><path stroke="{{ name }}url(#a)" d="M0 0"/></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected a color such as #1d2433, or url(#own-…) of a gradient for stroke",
    ),
    "drawing that loads a fill": HostileTheme(
        in_lead('<svg><rect fill="url(https://eve.example/a.svg#b)"/></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected a color such as #1d2433, or url(#own-…) of a gradient for fill",
    ),
    "drawing with an id of ours": HostileTheme(
        in_lead('<svg><rect fill="url(#main)"/></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected a color such as #1d2433, or url(#own-…) of a gradient for fill",
    ),
    "drawing with an id of another template": HostileTheme(
        in_lead('<svg><rect clip-path="url(#own-far)"/></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected url(#…) with an id of the same template; found #own-far",
    ),
    "drawing that clips with another file": HostileTheme(
        in_lead('<svg><rect clip-path="url(https://eve.example/a.svg#own-a)"/></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected url(#own-…) of a <clipPath> for clip-path",
    ),
    "clips within clips": HostileTheme(
        in_lead('<svg><clipPath id="own-a"><g></g></clipPath><clipPath id="own-b"><g clip-path="url(#own-a)"></g></clipPath></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected no clip-path within a <clipPath>",
    ),
    "gradient of another": HostileTheme(
        in_lead('<svg><linearGradient id="own-a" href="https://eve.example/a.svg#b"></linearGradient></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <linearGradient> may have; found href",
    ),
    "shape within a gradient": HostileTheme(
        in_lead('<svg><linearGradient id="own-a"><path d="M0 0"/></linearGradient></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected <stop> alone directly within <linearGradient>",
    ),
    "math": HostileTheme(
        in_lead('<math><mtext><table><mglyph><style><img src onerror=alert(1)></style></mglyph></table></mtext></math>'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "mutation by noscript": HostileTheme(
        in_lead('<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "mutation by template": HostileTheme(
        in_lead("<template><p></p></template>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "mutation by title": HostileTheme(
        in_lead('<svg><title><p title="</title><img onerror=alert(1)>"></p></title></svg>'),
        problem="templates/pages/sign_in/login.html:2: expected shapes alone within <svg>",
    ),
    "mutation by p in p": HostileTheme(
        in_lead("<p><div>x</div></p>"),
        problem="templates/pages/sign_in/login.html:2: expected </p> before <div>: browsers end it there",
    ),
    "mutation by table": HostileTheme(
        in_lead("<table><form><input></form></table>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "mutation by select": HostileTheme(
        in_lead("<select><option></select>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "mutation by heading in heading": HostileTheme(
        in_lead("<h2><h3>x</h3></h2>"),
        problem="templates/pages/sign_in/login.html:2: expected </h2> before <h3>: browsers end it there",
    ),
    "mutation by list in p": HostileTheme(
        in_lead("<p><span><ul><li>x</li></ul></span></p>"),
        problem="templates/pages/sign_in/login.html:2: expected </p> before <ul>: browsers end it there",
    ),
    "link in link by way of another": HostileTheme(
        in_lead('<a href="/login"><b><a href="https://eve.example/">x</a></b></a>'),
        problem="templates/pages/sign_in/login.html:2: expected </a> before <a>: browsers end it there",
    ),
    "link in link": HostileTheme(
        in_lead('<a href="/login"><a href="https://eve.example/">x</a></a>'),
        problem="templates/pages/sign_in/login.html:2: expected </a> before <a>: browsers end it there",
    ),
    "textarea that swallows": HostileTheme(
        in_lead("<textarea>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "plaintext": HostileTheme(
        in_lead("<plaintext>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "xmp": HostileTheme(
        in_lead("<xmp><script></xmp>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "comment": HostileTheme(
        in_lead("<!-- x -->"),
        problem="templates/pages/sign_in/login.html:2: expected comments as {# … #}",
    ),
    "conditional comment": HostileTheme(
        in_lead("<!--[if IE]><script></script><![endif]-->"),
        problem="templates/pages/sign_in/login.html:2: expected comments as {# … #}",
    ),
    "comment that swallows": HostileTheme(
        in_lead("<!--"),
        problem="templates/pages/sign_in/login.html:2: expected comments as {# … #}",
    ),
    "comment of an empty tag": HostileTheme(
        in_lead("</ x>"),
        problem="templates/pages/sign_in/login.html:2: expected &lt; for a < that begins no tag",
    ),
    "CDATA": HostileTheme(
        in_lead("<svg><![CDATA[<script>]]></svg>"),
        problem="templates/pages/sign_in/login.html:2: expected comments as {# … #}",
    ),
    "doctype": HostileTheme(
        in_lead("<!DOCTYPE html>"),
        problem="templates/pages/sign_in/login.html:2: expected comments as {# … #}",
    ),
    "processing instruction": HostileTheme(
        in_lead("<?xml-stylesheet href='https://eve.example'?>"),
        problem="templates/pages/sign_in/login.html:2: expected &lt; for a < that begins no tag",
    ),
    "attribute without quotes": HostileTheme(
        in_lead("<p title={{ name }}>x</p>"),
        problem='templates/pages/sign_in/login.html:2: expected double quotes: title="…"',
    ),
    "attribute in single quotes": HostileTheme(
        in_lead("<p title='{{ name }}'>x</p>"),
        problem='templates/pages/sign_in/login.html:2: expected double quotes: title="…"',
    ),
    "attribute in backticks": HostileTheme(
        in_lead("<p title=`{{ name }}`>x</p>"),
        problem='templates/pages/sign_in/login.html:2: expected double quotes: title="…"',
    ),
    "name of an attribute": HostileTheme(
        in_lead("<p {{ name }}>x</p>"),
        problem="templates/pages/sign_in/login.html:2: expected values in text or within the quotes of an attribute",
    ),
    "name of an element": HostileTheme(
        in_lead("<{{ name }}>x</{{ name }}>"),
        problem="templates/pages/sign_in/login.html:2: expected &lt; for a < that begins no tag",
    ),
    "unclosed attribute": HostileTheme(
        in_lead('<p title="'),
        problem="templates/pages/sign_in/login.html:2: expected the end of the tag <p",
    ),
    "unclosed attribute before the form": HostileTheme(
        {LOGIN: '{% block body %}<p title="{{ super() }}"></p>{% endblock %}'},
        problem="templates/pages/sign_in/login.html:1: expected super() between elements, because it is markup",
    ),
    "unclosed tag": HostileTheme(
        in_lead("<p"),
        problem="templates/pages/sign_in/login.html:2: expected the end of the tag <p",
    ),
    "unclosed element": HostileTheme(
        in_lead("<section>"),
        problem="templates/pages/sign_in/login.html:2: expected </section> for this <section>",
    ),
    "end of our element": HostileTheme(
        in_lead("</main>"),
        problem="templates/pages/sign_in/login.html:2: expected no <main>: content() has it",
    ),
    "end in a condition": HostileTheme(
        in_lead("<div>{% if name %}</div>{% endif %}"),
        problem="templates/pages/sign_in/login.html:2: expected no end without a beginning",
    ),
    "srcdoc": HostileTheme(
        in_lead('<iframe srcdoc="<script>alert(1)</script>"></iframe>'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "object": HostileTheme(
        in_lead('<object data="https://eve.example"></object>'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "embed": HostileTheme(
        in_lead('<embed src="https://eve.example">'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "javascript link": HostileTheme(
        in_lead('<a href="javascript:alert(1)">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "javascript link in disguise": HostileTheme(
        in_lead('<a href="java&#115;cript:alert(1)">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "javascript link after a tab": HostileTheme(
        in_lead('<a href="\tjavascript:alert(1)">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "data link": HostileTheme(
        in_lead('<a href="data:text/html,x">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link without scheme": HostileTheme(
        in_lead('<a href="//eve.example">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link with a backslash": HostileTheme(
        in_lead('<a href="/\\eve.example">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link with a tab": HostileTheme(
        in_lead('<a href="/\t/eve.example">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link with an entity": HostileTheme(
        in_lead('<a href="/&#9;/eve.example">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link with an entity for a slash": HostileTheme(
        in_lead('<a href="/&sol;eve.example">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link with an entity for a backslash": HostileTheme(
        in_lead('<a href="/&bsol;eve.example">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link of a value": HostileTheme(
        in_lead('<a href="{{ name }}">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an address of the view alone as href, or a fixed one",
    ),
    "link that tells a value": HostileTheme(
        in_lead('<a href="https://eve.example/?{{ organization }}">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an address of the view alone as href, or a fixed one",
    ),
    "link in two ways": HostileTheme(
        in_lead('<a href="{% if name %}https://a{% else %}https://b{% endif %}">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected href without a condition within its quotes",
    ),
    "link that opens and keeps": HostileTheme(
        in_lead('<a href="https://eve.example" target="_blank" rel="opener">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected one of external, help, license, nofollow, noopener,",
    ),
    "link that pings": HostileTheme(
        in_lead('<a href="/login" ping="https://eve.example">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <a> may have",
    ),
    "link that downloads": HostileTheme(
        in_lead('<a href="/login" download="x.exe">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <a> may have",
    ),
    "base": HostileTheme(
        in_lead('<base href="https://eve.example/">'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "meta refresh": HostileTheme(
        in_lead('<meta http-equiv="refresh" content="0;url=https://eve.example">'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "preload": HostileTheme(
        in_lead('<link rel="preload" href="https://eve.example">'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "style element": HostileTheme(
        in_lead("<style>*{display:none}</style>"),
        problem="templates/pages/sign_in/login.html:2: expected no <style>: put rules into the theme's css",
    ),
    "style attribute": HostileTheme(
        in_lead('<div style="position:fixed;inset:0">x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected no style attribute: put rules into the theme's css",
    ),
    "picture of another host": HostileTheme(
        in_lead('<img src="https://eve.example/a.png" alt="">'),
        problem="templates/pages/sign_in/login.html:2: expected a file of the tenant such as img/logo.svg as src",
    ),
    "picture with a script": HostileTheme(
        in_lead('<img src="data:image/svg+xml;base64,AAAA" alt="">'),
        problem="templates/pages/sign_in/login.html:2: expected a file of the tenant such as img/logo.svg as src",
    ),
    "picture by path": HostileTheme(
        in_lead('<img src="/logout" alt="">'),
        problem="templates/pages/sign_in/login.html:2: expected a file of the tenant such as img/logo.svg as src",
    ),
    "picture of two dots": HostileTheme(
        in_lead('<img src="/theme/../logout.png" alt="">'),
        problem="templates/pages/sign_in/login.html:2: expected a file of the tenant such as img/logo.svg as src",
    ),
    "set of pictures": HostileTheme(
        in_lead('<picture><source srcset="https://eve.example/a.png 2x"></picture>'),
        problem="templates/pages/sign_in/login.html:2: expected a file of the tenant such as img/logo.svg as srcset",
    ),
    "picture of a lure": HostileTheme(
        in_lead('<video src="https://eve.example" autoplay></video>'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
}
# fmt: on
