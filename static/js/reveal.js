// A password field may be shown. The button stands in the page hidden: without this file there is nothing to press.
document.querySelectorAll("[data-reveals]").forEach(function (button) {
  var field = document.getElementById(button.dataset.reveals);
  button.hidden = false;
  function show(shown) {
    field.type = shown ? "text" : "password";
    button.textContent = shown ? button.dataset.hide : button.dataset.show;
    button.setAttribute("aria-label", button.textContent + ": " + button.dataset.of);
  }
  button.addEventListener("click", function () {
    show(field.type === "password");
    field.focus();
  });
  field.form.addEventListener("submit", function () {
    show(false); // browsers keep what stands in a text field, and must not keep this
  });
});
