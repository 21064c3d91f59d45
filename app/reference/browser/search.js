/* Lists what the server finds below the search field while the reader types; Ctrl K or Command K leads to the field. */
{
  const SHOWN = 8;
  const field = document.querySelector("#search");
  const form = field.form;
  const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
  const key = document.createElement("kbd");
  key.textContent = isApple ? "⌘ K" : "Ctrl K";
  key.ariaHidden = "true";
  const list = document.createElement("ul");
  Object.assign(list, { id: "found-list", className: "found", role: "listbox", ariaLabel: "Results", hidden: true });
  const status = document.createElement("p");
  Object.assign(status, { className: "unseen", role: "status" });
  Object.assign(field, { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false", ariaKeyShortcuts: isApple ? "Meta+K" : "Control+K" });
  field.setAttribute("aria-controls", list.id);
  form.append(key, list, status);
  let asked = "";
  let chosen = -1;

  function choose(place) {
    const options = [...list.children];
    chosen = options.length ? (place + options.length) % options.length : -1;
    options.forEach((option, index) => { option.ariaSelected = String(index === chosen); });
    options[chosen]?.scrollIntoView({ block: "nearest" });
    if (chosen < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", options[chosen].id);
  }

  function open(isOpen) {
    list.hidden = !isOpen;
    field.ariaExpanded = String(isOpen);
    if (!isOpen) field.removeAttribute("aria-activedescendant");
  }

  /* An option can't contain a link, so it leads to the link's address itself. */
  function option(link, index) {
    const item = document.createElement("li");
    Object.assign(item, { id: `found-${index}`, role: "option", className: "op" });
    item.dataset.address = link.getAttribute("href");
    item.append(...link.childNodes);
    return item;
  }

  /* The page of results is the server's only answer: this takes its first items and its count. */
  function show(page) {
    const items = [...page.querySelectorAll("#found a")].slice(0, SHOWN).map(option);
    list.replaceChildren(...items);
    status.textContent = page.querySelector("#found-count").textContent;
    open(items.length > 0);
    choose(0);
  }

  async function find() {
    const query = field.value.trim();
    if (query === asked) return;
    asked = query;
    if (!query) {
      status.textContent = "";
      open(false);
      return;
    }
    const answer = await fetch(`${form.action}?q=${encodeURIComponent(query)}`);
    const text = await answer.text();
    if (query === asked) show(new DOMParser().parseFromString(text, "text/html"));
  }

  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 60);
  });
  field.addEventListener("focus", () => { if (list.children.length && field.value.trim() === asked) open(true); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (list.hidden) field.blur();
      else event.preventDefault();
      open(false);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) open(list.children.length > 0);
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && !list.hidden && chosen >= 0) {
      event.preventDefault();
      location.assign(list.children[chosen].dataset.address);
    }
  });
  form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) open(false); });
  list.addEventListener("click", (event) => {
    const { address } = event.target.closest("[data-address]").dataset;
    if (event.ctrlKey || event.metaKey) window.open(address);
    else location.assign(address);
    open(false);
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field stays focused until the click
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(isApple ? event.metaKey : event.ctrlKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}
