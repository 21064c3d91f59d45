// Block double submission in the browser; the server handles it as well. The pressed button says what happens meanwhile.
document.addEventListener("submit", function (event) {
  var form = event.target, button = event.submitter;
  if (form.classList.contains("busy")) {
    event.preventDefault();
    return;
  }
  form.classList.add("busy");
  form.setAttribute("aria-busy", "true");
  if (!button) return;
  button.setAttribute("aria-busy", "true");
  if (!button.dataset.busy) return;
  button.idle = Array.from(button.childNodes);
  button.textContent = button.dataset.busy;
});
// A browser that denies its cookies but sends them comes back with the mark, which then counts for all pages of the tab.
if (location.hash === "#cookies") window.name = "cookies";
if (!navigator.cookieEnabled && window.name !== "cookies") location.replace("/cookies-blocked" + location.search);
// Tell the other tabs that a form led away from this page: a sign-in may have ended (tabs.js).
window.addEventListener("pagehide", function () {
  if (window.BroadcastChannel && document.querySelector("form.busy")) new BroadcastChannel("gatehouse").postMessage("");
});
window.addEventListener("pageshow", function () {
  document.querySelectorAll("form.busy").forEach(function (form) {
    form.classList.remove("busy");
    form.removeAttribute("aria-busy");
  });
  document.querySelectorAll("button[aria-busy]").forEach(function (button) {
    button.removeAttribute("aria-busy");
    if (button.idle) button.replaceChildren(...button.idle);
  });
});
