// Show the buttons that send a link to another device, where the system can.
if (navigator.share) {
  document.querySelectorAll("[data-shares]").forEach(function (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      navigator.share({ url: button.dataset.shares }).catch(function () {});
    });
  });
}
