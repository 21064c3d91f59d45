// Codes may be printed. The button stands in the page hidden: without this file there is nothing to press.
document.querySelectorAll("[data-prints]").forEach(function (button) {
  button.hidden = false;
  button.addEventListener("click", function () {
    window.print();
  });
});
