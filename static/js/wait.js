// Show clock times in the browser's time zone, and disable the resend button until the cool-down ends, which the server enforces.
(function () {
  document.querySelectorAll("time[datetime$='+00:00']").forEach(function (time) {
    var clock = { hour: "numeric", minute: "2-digit" };
    time.textContent = new Date(time.dateTime).toLocaleTimeString(document.documentElement.lang, clock);
  });
  document.querySelectorAll("[data-wait]").forEach(function (form) {
    var button = form.querySelector("button"), hint = form.querySelector("p");
    button.disabled = true;
    setTimeout(function () {
      button.disabled = false;
      if (hint) hint.hidden = true;
    }, Number(form.dataset.wait) * 1000);
  });
})();
