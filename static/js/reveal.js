// Show the button that reveals a password, and say that Caps Lock is on; both are hidden without JavaScript.
document.querySelectorAll("[data-reveals]").forEach(function (button) {
  var field = document.getElementById(button.dataset.reveals);
  button.hidden = false;
  function show(shown) {
    field.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", shown);
  }
  button.addEventListener("click", function () {
    show(field.type === "password");
    field.focus();
  });
  var caps = button.nextElementSibling;
  ["keydown", "keyup", "blur"].forEach(function (kind) {
    field.addEventListener(kind, function (event) {
      caps.hidden = !event.getModifierState || !event.getModifierState("CapsLock");
    });
  });
  field.form.addEventListener("submit", function () {
    show(false); // browsers remember values of text fields
  });
});
