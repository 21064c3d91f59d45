/* New messages join the list while the page is open, which keeps the message that it shows; an empty inbox opens the first. The browser knows which are read. */
{
  const list = () => document.querySelector(".mails");
  const path = (link) => link?.pathname;

  function mark() {
    const read = new Set(JSON.parse(localStorage.getItem("read")));
    const links = [...(list()?.querySelectorAll("a") ?? [])];
    const isShown = document.querySelector(".mail")?.offsetHeight > 0; // not on phones, where the list is
    for (const link of links) {
      if (isShown && link.hasAttribute("aria-current")) read.add(path(link));
      link.classList.toggle("unread", !read.has(path(link)));
      link.ariaDescription = read.has(path(link)) ? null : "Unread";
    }
    localStorage.setItem("read", JSON.stringify([...read].slice(-1000)));
  }

  function show(found) {
    const shown = list();
    const [current, focused] = [path(shown.querySelector("[aria-current]")), path(shown.querySelector(":focus"))];
    shown.replaceWith(found);
    for (const link of found.querySelectorAll("a")) {
      if (path(link) === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      if (path(link) === focused) link.focus();
    }
    mark();
  }

  async function refresh() {
    const answer = document.hidden ? {} : await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector(".mails");
    if (!found || path(found.querySelector("a")) === path(list()?.querySelector("a"))) return;
    if (!list()) return location.reload();
    show(found);
    document.querySelector("#tally").textContent = page.querySelector("#tally").textContent;
  }

  setInterval(() => refresh().catch(() => {}), 3000); // the server may be stopped meanwhile
  mark();
}
