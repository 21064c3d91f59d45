// Pick the color of an organization, and redraw the preview of its sign-in page: the page itself, asked for with the values of the form.
document.querySelectorAll(".studio").forEach(function (form) {
  var field = form.elements.color, picker = form.elements.picker, code = /^(#[0-9a-f]{6})?$/i, timer, request;
  var swatches = form.querySelectorAll("[data-color]"), save = form.querySelector("[type=submit]:not([name])");

  function offer() { // nothing to save until a value differs from the stored one
    save.disabled = "stored" in form.dataset && ["display_name", "name", "color"].every(function (name) {
      return form.elements[name].value === form.elements[name].defaultValue;
    });
  }
  function redraw() {
    var data = new URLSearchParams(new FormData(form));
    data.delete("password");
    data.set("do", "preview");
    if (request) request.abort();
    request = new AbortController();
    fetch(form.action, { method: "POST", body: data, signal: request.signal }).then(function (answer) {
      return answer.text();
    }).then(function (text) {
      var rules, page = new DOMParser().parseFromString(text.replace(/<style[^>]*>([^<]*)<.style>/, function (style, content) {
        rules = content; // the parser would apply the policy of this page, and find another nonce
        return "";
      }), "text/html");
      if (!page.querySelector(".studio")) return;
      document.querySelector("head style").textContent = rules;
      [".preview", ".upload", "#color-note"].forEach(function (place) {
        var here = document.querySelector(place);
        if (here) here.replaceChildren.apply(here, page.querySelector(place).childNodes);
      });
      field.setAttribute("aria-describedby", "color-note");
      field.closest(".field").classList.toggle("field--wrong", !!page.querySelector("#color-problem"));
    }).catch(function () {});
  }
  function changed(event) {
    if (event.target === picker) field.value = picker.value;
    else if (code.test(field.value) && field.value) picker.value = field.value;
    swatches.forEach(function (swatch) {
      swatch.setAttribute("aria-pressed", swatch.dataset.color === field.value.toLowerCase());
    });
    offer();
    clearTimeout(timer);
    if (code.test(field.value) || event.type === "change") timer = setTimeout(redraw, 150);
  }
  swatches.forEach(function (swatch) {
    swatch.style.background = swatch.dataset.color;
    swatch.addEventListener("click", function () {
      field.value = swatch.dataset.color;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    swatch.setAttribute("aria-pressed", swatch.dataset.color === field.value.toLowerCase());
  });
  window.addEventListener("pageshow", offer);
  offer();
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  form.querySelector(".swatches").hidden = false;
  form.querySelector("[value=preview]").hidden = true;
});
