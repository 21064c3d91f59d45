// Poll until the link was opened, or another device has approved the sign-in: until the state is not `data-state`. Then press the button, which works without scripts.
// The pauses grow from 3 to 15 seconds, and it ends after an hour, as the waiting interaction does.
document.querySelectorAll("[data-poll]").forEach(function (form) {
  var shown = form.dataset.state || "waits", pause = 3000, deadline = Date.now() + 3600000, timer;
  function again(delay) {
    clearTimeout(timer);
    if (Date.now() < deadline) timer = setTimeout(poll, delay);
  }
  function poll() {
    if (document.querySelector("form.busy")) return again(pause);
    pause = Math.min(pause * 1.05, 15000);
    fetch(form.dataset.poll, { credentials: "same-origin", cache: "no-store" })
      .then(function (answer) {
        return answer.ok ? answer.text() : shown;
      })
      .then(function (state) {
        if (state === shown) again(pause);
        else if (!document.querySelector("form.busy")) form.querySelector("button").click();
      })
      .catch(function () {
        again(15000);
      });
  }
  form.hidden = "quiet" in form.dataset;
  document.addEventListener("visibilitychange", function () {
    if (!document.hidden) again(300);
  });
  again(pause);
});
