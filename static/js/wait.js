// Disable the resend button until the cool-down ends, which the server enforces.
(function () {
  document.querySelectorAll("[data-wait]").forEach(function (form) {
    var button = form.querySelector("button"), hint = form.querySelector("p");
    button.disabled = true;
    setTimeout(function () {
      button.disabled = false;
      if (hint) hint.hidden = true;
    }, Number(form.dataset.wait) * 1000);
  });
})();
