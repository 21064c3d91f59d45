// Each choice shows at once.
(function () {
  var form = document.querySelector(".tools");
  form.addEventListener("change", function (event) {
    if (event.target.localName === "select") form.requestSubmit();
  });
  window.addEventListener("pageshow", function () { form.reset(); }); // back from the next choice, as the page shows this one
})();
