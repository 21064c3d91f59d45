// Turn the field of several email addresses into chips. What the form sends stays in the field itself: one address per line.
document.querySelectorAll("[data-chips]").forEach(function (place) {
  var area = place.querySelector("textarea"), hadFocus = area.autofocus || document.activeElement === area;
  var box = document.createElement("div"), list = document.createElement("ul"), input = document.createElement("input");
  var send = area.form.querySelector("[data-busy]"), text = send.textContent, sends = JSON.parse(place.dataset.sends);
  var category = new Intl.PluralRules(document.documentElement.lang), refused = {}, well = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/;
  place.querySelectorAll("[data-email]").forEach(function (item) { refused[item.dataset.email] = item; });

  // As the server reads them: "Ada <ada@example.com>" is one, too.
  function addresses(text) {
    return text.split(/[,;،؛\n\r]+/).flatMap(function (part) {
      var named = /<([^<>]*)>\s*$/.exec(part);
      return (named ? named[1] : part).split(/\s+/).filter(Boolean);
    });
  }
  function chips() {
    return Array.from(list.children);
  }
  function save() {
    area.value = chips().map(function (chip) { return chip.dataset.address; }).concat(input.value.trim() || []).join("\n");
    count();
  }
  function count() {
    var number = list.querySelectorAll(":not(.wrong) > bdi").length + well.test(input.value.trim()), say = number && sends[category.select(number)];
    send.textContent = say ? say.replace("{}", number.toLocaleString(document.documentElement.lang)) : text;
  }
  function drop(chip) {
    var item = refused[chip.dataset.address];
    if (item) item.remove();
    chip.remove();
    save();
  }
  function add(address) {
    var isKnown = chips().some(function (chip) { return chip.dataset.address.toLowerCase() === address.toLowerCase(); });
    if (isKnown) return;
    var chip = document.createElement("li"), text = document.createElement("bdi"), button = document.createElement("button");
    chip.dataset.address = text.textContent = address;
    button.type = "button";
    button.setAttribute("aria-label", place.dataset.remove.replace("{}", address));
    button.addEventListener("click", function () { drop(chip); input.focus(); });
    chip.append(text, button);
    if (refused[address] || !well.test(address)) {
      chip.className = "wrong";
      if (!refused[address]) chip.title = place.dataset.wrong;
      text.setAttribute("aria-description", refused[address] ? refused[address].textContent : place.dataset.wrong);
    }
    list.append(chip);
  }
  function commit() {
    addresses(input.value).forEach(add);
    input.value = "";
    save();
  }

  box.className = "control chips";
  input.type = "text";
  ["inputmode", "autocapitalize", "spellcheck", "dir", "placeholder", "aria-describedby", "aria-invalid"].forEach(function (name) {
    if (area.hasAttribute(name)) input.setAttribute(name, area.getAttribute(name));
  });
  input.autocomplete = "off";
  input.id = area.id;
  area.removeAttribute("id");
  area.hidden = true;
  addresses(area.value).forEach(add);
  count();
  box.append(list, input);
  area.after(box);
  if (hadFocus) input.focus();

  box.addEventListener("click", function (event) { if (event.target === box || event.target === list) input.focus(); });
  input.addEventListener("input", function () {
    if (/[,;،؛]/.test(input.value) || /@.*\s$/.test(input.value)) commit();
    else save();
  });
  input.addEventListener("paste", function (event) {
    event.preventDefault();
    input.setRangeText(event.clipboardData.getData("text").replace(/[\r\n]+/g, ","), input.selectionStart, input.selectionEnd, "end");
    if (/[,;،؛\s]/.test(input.value.trim())) commit();
    else save();
  });
  input.addEventListener("keydown", function (event) {
    var last = list.lastElementChild;
    if (event.key === "Enter" && input.value.trim() && !event.isComposing) {
      event.preventDefault();
      commit();
    } else if (event.key === "Backspace" && !input.value && last) {
      event.preventDefault();
      drop(last);
      input.value = last.dataset.address;
      save();
    }
  });
  area.form.addEventListener("submit", commit); // not at blur: a chip could move the button that is being pressed
});
