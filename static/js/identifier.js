// A password that a manager filled in belongs to the identifier that it filled in: another one that is typed instead drops it.
document.querySelectorAll("[name=identifier]").forEach(function (field) {
  field.addEventListener("input", function (event) {
    if (/^(insert|delete)(?!ReplacementText)/.test(event.inputType)) field.form.elements.password.value = "";
  });
});
