// Submit a code at its last digit, each value once; the button does it without the script. A pasted code loses what stands around it.
document.querySelectorAll("[data-digits]").forEach(function (field) {
  var sent = "";
  function digits(text) {
    return text.replace(/[^\p{Nd}]/gu, "");
  }
  field.addEventListener("paste", function (event) {
    var pasted = digits(event.clipboardData.getData("text"));
    if (pasted.length !== Number(field.dataset.digits)) return;
    event.preventDefault();
    field.value = pasted;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("input", function (event) {
    var typed = digits(field.value);
    if (event.isComposing || typed.length !== Number(field.dataset.digits) || typed === sent) return;
    sent = typed;
    field.form.querySelector("button[data-busy]").click();
  });
});
