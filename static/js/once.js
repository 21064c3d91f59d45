// Block double submission in the browser; the server handles it as well.
document.addEventListener("submit", function (event) {
  var form = event.target;
  if (form.classList.contains("busy")) {
    event.preventDefault();
    return;
  }
  form.classList.add("busy");
  form.setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", function () {
  document.querySelectorAll("form.busy").forEach(function (form) {
    form.classList.remove("busy");
    form.removeAttribute("aria-busy");
  });
});
