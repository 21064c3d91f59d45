/* Shows one operation with openapi-explorer, which the page loads after this script. */
const place = document.querySelector(".explorer");
const form = place.querySelector(".keys");
const sheet = new CSSStyleSheet();
const styled = fetch(document.currentScript.dataset.style).then((answer) => answer.text()).then((text) => sheet.replace(text));
const described = fetch(place.dataset.document).then((answer) => answer.json());
let spec;
const EXPIRED = [905, 906, 1409, 6002]; // the demo issues a new token for the next request
const STORED_AS = "gatehouse.reference.";

/* What the renderer says, in the product's words. */
const SAID = {
  "API KEY": "API key", BODY: "Example", CLEAR: "Clear", "CLEAR RESPONSE": "Clear", "CODE SAMPLES": "Code samples", EXAMPLE: "Example",
  EXECUTE: "Try it", FORM: "Form", MODEL: "Fields", "PATH PARAMETERS": "Path parameters", "QUERY-STRING PARAMETERS": "Query parameters",
  REQUEST: "Request", "REQUEST BODY": "Request body", "REQUEST HEADERS": "Headers", RESPONSE: "Response", "RESPONSE HEADERS": "Headers",
};

/* The renderer's elements have shadow roots, which no style sheet of the page reaches. */
const attachShadow = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attachShadow.call(this, options);
  queueMicrotask(() => {
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    mend(root);
    new MutationObserver(() => mend(root)).observe(root, { childList: true, characterData: true, subtree: true });
  });
  return root;
};

/* It writes the operation's place into the address; here each operation has an address of its own. */
history.pushState = () => {};

function mend(root) {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const said = SAID[texts.currentNode.data.trim()];
    if (said) texts.currentNode.data = said;
  }
  for (const title of root.querySelectorAll(".req-res-title")) title.ariaLevel = "2";
  for (const bracket of root.querySelectorAll(".open-bracket:not([tabindex])")) pressable(bracket);
  for (const tree of root.querySelectorAll("json-tree:not([tabindex])")) {
    tree.tabIndex = 0; // it scrolls
    tree.role = "region";
    tree.ariaLabel = "Example";
  }
  root.querySelectorAll(".m-table").forEach(foldTable);
  root.querySelectorAll(".tree").forEach(foldTree);
}

function pressable(bracket) {
  bracket.tabIndex = 0;
  bracket.role = "button";
  bracket.ariaLabel = "Nested fields";
  bracket.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      bracket.click();
    }
  });
}

/* Some operations have dozens of fields: those that most calls need are enough until the reader asks for all. */
const FEW = 3;

function foldTable(table) {
  const rows = [...table.querySelectorAll("tr")];
  const { parameters } = operation();
  const names = parameters.filter((parameter) => parameter.required || "example" in parameter).map((parameter) => parameter.name);
  fold(table, rows, (row) => names.some((name) => row.querySelector(".param-name")?.id === `request-${name}-label`), "parameters");
}

function foldTree(tree) {
  const fields = tree.querySelector(":scope > .inside-bracket-wrapper > .inside-bracket");
  if (!fields) return;
  const holders = tree.getRootNode().host.closest("api-response") ? Object.values(operation().responses) : [operation().requestBody];
  const contents = holders.flatMap((holder) => Object.values(holder?.content ?? {}));
  const names = new Set(contents.flatMap(({ schema, examples }) => [
    ...schema?.required ?? [], ...Object.values(examples ?? {}).flatMap((example) => Object.keys(Object(example.value))),
  ]));
  const rows = [...fields.children];
  const isFirst = (row) => names.has(row.querySelector(".key-label")?.textContent.replace(/[:*\s]/g, ""));
  fold(tree, rows.filter((row) => row.matches(".tr")), isFirst, "fields");
}

/* The rows that most calls need come first. What a row holds follows it. */
function fold(around, rows, isFirst, noun) {
  if (around.dataset.folds || !rows.length) return;
  around.dataset.folds = rows.length;
  const shown = Math.max(rows.filter(isFirst).length, FEW);
  if (rows.length - shown < FEW) return;
  const rest = rows.slice(shown).flatMap((row) => row.nextElementSibling?.matches(".inside-bracket-wrapper") ? [row, row.nextElementSibling] : [row]);
  for (const row of rest) row.hidden = true;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "m-btn unfold";
  button.textContent = `Show ${rows.length - shown} more ${noun}`;
  button.addEventListener("click", () => {
    for (const row of rest) row.hidden = false;
    button.remove();
  });
  around.after(button);
}

function operation() {
  const [methods] = Object.values(spec.paths);
  return Object.values(methods)[0];
}

function wanted(scheme) {
  const way = form.querySelector("select");
  return !way || way.value.split(" ").includes(scheme);
}

/* The renderer fills JSON in with its example, but not the fields of a form. */
function fillForm(request) {
  for (const content of Object.values(operation().requestBody?.content ?? {})) {
    const [example] = Object.values(content.examples ?? {});
    for (const input of request.querySelectorAll("[data-ptype=form-input]")) {
      const value = example?.value?.[input.dataset.pname];
      if (typeof value === "string") input.value = value;
    }
  }
}

/* Credentials that the reader types stay in this tab, for the pages of other operations. */
function applied(explorer) {
  for (const field of form.querySelectorAll("[data-scheme]")) {
    const { scheme } = field.dataset;
    const input = field.querySelector("input");
    field.hidden = !wanted(scheme);
    explorer.setAuthenticationConfiguration(scheme, { token: field.hidden ? "" : input.value });
  }
}

function keep(event) {
  const scheme = event.target.closest("[data-scheme]")?.dataset.scheme;
  if (scheme) sessionStorage.setItem(STORED_AS + scheme, event.target.value);
}

function recall() {
  for (const field of form.querySelectorAll("[data-scheme]")) {
    const stored = sessionStorage.getItem(STORED_AS + field.dataset.scheme);
    if (stored !== null) field.querySelector("input").value = stored;
  }
}

/* In the demo, the server gets the tokens that are missing. */
function missing() {
  return [...form.querySelectorAll("[data-issued]")].filter((field) => !field.hidden && !field.querySelector("input").value);
}

async function issue(explorer) {
  await Promise.all(missing().map(async (field) => {
    const answer = await fetch(`/docs/tokens/${field.dataset.scheme}`, { method: "POST" });
    const token = answer.ok ? (await answer.json()).token : "-";
    field.querySelector("input").value = token;
    if (answer.ok) sessionStorage.setItem(STORED_AS + field.dataset.scheme, token);
  }));
  applied(explorer);
  await explorer.updateComplete;
  await explorer.shadowRoot.querySelector("api-request").updateComplete;
}

function issueFirst(explorer) {
  explorer.shadowRoot.addEventListener("click", async (event) => {
    const button = event.target.closest(".btn-execute");
    if (!button || !missing().length) return;
    event.stopImmediatePropagation();
    await issue(explorer);
    button.click();
  }, true);
}

function forget(field) {
  field.querySelector("input").value = "";
  sessionStorage.removeItem(STORED_AS + field.dataset.scheme);
}

/* The access token of an answer is used for the next operations. Then the page scrolls to the answer. */
async function learn(event) {
  const { access_token: token, ErrorCode, errorCode } = Object(event.detail.response?.body);
  if (EXPIRED.includes(ErrorCode ?? errorCode)) form.querySelectorAll("[data-issued]").forEach(forget);
  if (typeof token === "string") sessionStorage.setItem(`${STORED_AS}AccessToken`, token);
  const [request] = event.composedPath();
  await request.updateComplete;
  request.responseText = request.responseText.replace(/^(?: {8})+/gm, (indent) => " ".repeat(indent.length / 2 - 2)); // it adds 2
  request.querySelector(".response-message")?.scrollIntoView({ block: "center" });
}

/* The renderer brings the page's main landmark, and what belongs in it. */
function takePlace(main) {
  const plain = document.createElement("div");
  for (const name of ["id", "tabindex"]) plain.setAttribute(name, main.getAttribute(name));
  plain.className = "main";
  plain.append(...main.childNodes);
  main.replaceWith(plain);
}

async function show() {
  await Promise.all([styled, customElements.whenDefined("openapi-explorer")]);
  spec = await described;
  const { prototype } = customElements.get("openapi-explorer");
  prototype.handleResize = () => {}; // one layout in every width: this page has the heading and the menu
  prototype.scrollTo = () => Promise.resolve(); // a page begins at its top
  const explorer = document.createElement("openapi-explorer");
  const [path] = Object.keys(spec.paths);
  const [method] = Object.keys(spec.paths[path]);
  const attributes = { "hide-server-selection": "", "hide-authentication": "", "hide-components": "", "hide-search": "", tree: "", "schema-expand-level": 1, "default-schema-tab": "model" };
  for (const [name, value] of Object.entries(attributes)) explorer.setAttribute(name, value);
  explorer.setAttribute("explorer-location", `${method}-${path.replace(/[\s#:?&={}-]+/g, "-")}`);
  if (place.dataset.host !== location.host) explorer.setAttribute("hide-console", "");
  explorer.append(...document.querySelectorAll(".intro, .keys"));
  place.append(explorer);
  takePlace(document.querySelector("main"));
  place.removeAttribute("style"); // the renderer makes an empty parent as high as the window
  await explorer.loadSpec(spec);
  await explorer.updateComplete;
  explorer.shadowRoot.querySelector("api-response").activeSchemaTab = "body"; // the example before the fields
  const request = explorer.shadowRoot.querySelector("api-request");
  await request.updateComplete;
  fillForm(request);
  if (!form) return;
  recall();
  applied(explorer);
  form.hidden = false;
  form.addEventListener("input", (event) => { keep(event); applied(explorer); });
  issueFirst(explorer);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    explorer.shadowRoot.querySelector(".btn-execute")?.click();
  });
  explorer.addEventListener("after-try", learn);
}

show();
