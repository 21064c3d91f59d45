// A button that is of use only after a while waits for it. The server holds to it by itself.
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
