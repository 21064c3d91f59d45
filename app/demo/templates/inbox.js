/* New messages join the list while the page is open, which keeps the message that it shows; an empty inbox opens the first. */
{
  const list = () => document.querySelector(".mails");
  const path = (link) => link?.pathname;

  function show(found) {
    const shown = list();
    const [current, focused] = [path(shown.querySelector("[aria-current]")), path(shown.querySelector(":focus"))];
    shown.replaceWith(found);
    for (const link of found.querySelectorAll("a")) {
      if (path(link) === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      if (path(link) === focused) link.focus();
    }
  }

  async function refresh() {
    const answer = document.hidden ? {} : await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector(".mails");
    if (!found || path(found.querySelector("a")) === path(list()?.querySelector("a"))) return;
    if (!list()) return location.reload();
    show(found);
    document.querySelector("#q").placeholder = page.querySelector("#q").placeholder;
  }

  setInterval(() => refresh().catch(() => {}), 3000); // the server may be stopped meanwhile
}
