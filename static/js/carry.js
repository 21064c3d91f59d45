// Carry the typed name or address to the page that a link opens. It stays in this tab, outside of addresses and requests.
(function () {
  var key = "identifier";
  var field = document.querySelector("main form [name=identifier]:not([readonly]), main form [autocomplete~=username]:not([readonly])");
  try {
    var carried = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    if (field && carried && !field.value && (field.type !== "email" || carried.indexOf("@") > 0)) field.value = carried;
    document.addEventListener("click", function (event) {
      if (field && field.value && event.target.closest("main a[href^='/']:not([href^='/sign-in/with'])")) sessionStorage.setItem(key, field.value);
    });
  } catch (error) {
    // Storage is off: the field stays as it is.
  }
})();
