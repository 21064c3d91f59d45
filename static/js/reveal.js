// Show the button that reveals a password, which is hidden without JavaScript.
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
  field.form.addEventListener("submit", function () {
    show(false); // browsers remember values of text fields
  });
});
