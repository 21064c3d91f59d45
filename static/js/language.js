// The list of languages closes on Escape and on a click elsewhere, as people expect of a menu.
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
