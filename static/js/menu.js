// Close an open menu at a click beside it and at Escape, which returns the focus to what opened it.
function closeMenus(except) {
  document.querySelectorAll("details.menu[open]").forEach(function (menu) {
    if (menu !== except) menu.open = false;
  });
}
document.addEventListener("click", function (event) {
  closeMenus(event.target.closest("details.menu"));
});
document.addEventListener("keydown", function (event) {
  var menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (!menu) return;
  closeMenus();
  menu.querySelector("summary").focus();
});
