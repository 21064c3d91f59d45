// Poll until another device has approved the sign-in, then press the button. Without JavaScript the user presses it.
document.querySelectorAll("[data-poll]").forEach(function (form) {
  var attempts = 0;
  function poll() {
    attempts += 1;
    if (attempts > 400 || form.classList.contains("busy")) return;
    fetch(form.dataset.poll, { credentials: "same-origin", cache: "no-store" })
      .then(function (answer) {
        return answer.ok ? answer.text() : "waits";
      })
      .then(function (state) {
        if (state === "waits") setTimeout(poll, 3000);
        else form.querySelector("button").click();
      })
      .catch(function () {
        setTimeout(poll, 10000);
      });
  }
  setTimeout(poll, 3000);
});
