// Take the typed identifier along to another page, in a form of its own: password managers see no submitted password.
document.addEventListener("click", function (event) {
  var button = event.target.closest("button[name=to]");
  if (!button) return;
  event.preventDefault();
  var form = document.createElement("form");
  form.method = "post";
  form.action = button.formAction;
  function add(name, value) {
    var input = document.createElement("input");
    input.type = "hidden";
    input.name = name;
    input.value = value;
    form.append(input);
  }
  ["token", "attempt", "identifier"].forEach(function (name) {
    var field = button.form.elements[name];
    if (field) add(name, field.value);
  });
  add(button.name, button.value);
  document.body.append(form);
  form.submit();
});
