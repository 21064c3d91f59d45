// Close the language menu on Escape and on a click outside.
(function () {
  var menu = document.querySelector(".lang");
  if (!menu) return;
  document.addEventListener("click", function (event) {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", function (event) {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
})();
