// A number from another device has two digits: until they are typed, the button that sends them is not available.
document.querySelectorAll("[data-number=needed]").forEach(function (field) {
  var button = field.form.querySelector(".button");
  function update() {
    button.disabled = field.value.replace(/[^\p{Nd}]/gu, "").length !== 2;
  }
  field.addEventListener("input", update);
  window.addEventListener("pageshow", update);
  update();
});
