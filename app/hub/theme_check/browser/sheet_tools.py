"""What rules use in the browser: names of elements, and colors with what lies behind them."""

from typing import Final

TOOLS: Final = """() => {
    // An element as faults name it: its start tag, and its text where it has one.
    window.named = each => {
        const tag = each.cloneNode(false).outerHTML.replace(/<[/][^>]*>$/, "").replace(/ (value|nonce|style)="[^"]*"/g, "");
        const text = each.textContent.trim().replace(/\\s+/g, " ");
        return (tag.length > 90 ? tag.slice(0, 89) + "…" : tag) + (text ? " “" + text.slice(0, 30) + "”" : "");
    };
    const drawn = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true}), known = new Map();
    // Colours are red, green, blue from 0 to 255 and alpha from 0 to 1.
    const rgba = text => {
        if (!known.has(text)) {
            drawn.clearRect(0, 0, 1, 1);
            drawn.fillStyle = text;
            drawn.fillRect(0, 0, 1, 1);
            const [red, green, blue, alpha] = drawn.getImageData(0, 0, 1, 1).data;
            known.set(text, [red, green, blue, alpha / 255]);
        }
        return known.get(text);
    };
    const over = ([r, g, b, a], [red, green, blue, alpha]) => {
        const whole = a + alpha * (1 - a), mix = (top, below) => whole ? (top * a + below * alpha * (1 - a)) / whole : 0;
        return [mix(r, red), mix(g, green), mix(b, blue), whole];
    };
    const light = colour => colour.slice(0, 3).map(each => each / 255)
        .map(each => each <= .04045 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4)
        .reduce((sum, each, index) => sum + each * [.2126, .7152, .0722][index], 0);
    const contrast = (one, other) => {
        const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
        return (high + .05) / (low + .05);
    };
    const isDark = doc => matchMedia("(prefers-color-scheme: dark)").matches
        && /dark/.test(getComputedStyle(doc.documentElement).colorScheme);
    const canvas = doc => rgba(isDark(doc) ? "#121212" : "#ffffff");
    const isDrawn = (each, style) => style.backgroundImage !== "none" || parseFloat(style.opacity) < 1 || style.filter !== "none"
        || style.mixBlendMode !== "normal" || each.closest("svg, img, picture, video, canvas")
        || ["::before", "::after"].map(of => getComputedStyle(each, of))
            .some(of => of.content !== "none" && ["absolute", "fixed"].includes(of.position)
                && (of.backgroundImage !== "none" || rgba(of.backgroundColor)[3] > 0));
    // The colour of these elements, the topmost first; null where one draws more than a colour.
    const flat = (elements, doc) => {
        let found = [0, 0, 0, 0];
        // The grounds of these two are painted first, under whatever has a negative z-index.
        const isLast = each => each.matches("html, body");
        for (const each of [...elements.filter(each => !isLast(each)), ...elements.filter(isLast)]) {
            const style = getComputedStyle(each);
            if (isDrawn(each, style)) return null;
            found = over(found, rgba(style.backgroundColor));
            if (found[3] > .999) return found;
        }
        return over(found, canvas(doc));
    };
    const grounds = each => (style => [style.backgroundImage, style.backgroundColor])(getComputedStyle(each));
    const around = each => each ? [each, ...around(each.parentElement)] : [];
    // What a point shows, also if nothing can be pressed there; null if it is more than a colour, or outside of the window.
    const under = (doc, x, y) => (stack => stack.length ? flat(stack, doc) : null)(doc.elementsFromPoint(Math.max(x, 0), y));
    const hits = doc => {
        const sheet = new doc.defaultView.CSSStyleSheet();
        sheet.replaceSync("*, ::before, ::after { pointer-events: auto !important }");
        return sheet;
    };
    const opacity = each => around(each).reduce((whole, of) => whole * parseFloat(getComputedStyle(of).opacity), 1);
    window.paint = {rgba, over, contrast, flat, under, hits, grounds, opacity, judged: new Map()};
}"""
"""Sets up `named` and `paint` in the window of a sheet."""
