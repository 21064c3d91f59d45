// Show the print button, which is hidden without JavaScript.
document.querySelectorAll("[data-prints]").forEach(function (button) {
  button.hidden = false;
  button.addEventListener("click", function () {
    window.print();
  });
});
