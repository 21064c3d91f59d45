/* Finds operations on the overview by any of their words. */
const search = document.querySelector("search");
const field = search.querySelector("input");
const said = search.querySelector("[role=status]");
const chapters = [...document.querySelectorAll(".chapter")].map((chapter) => ({
  chapter,
  operations: [...chapter.querySelectorAll("li")].map((item) => ({
    item,
    text: `${item.id} ${item.textContent} ${chapter.querySelector("h4").textContent}`.toLowerCase(),
  })),
}));

function find() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { chapter, operations } of chapters) {
    let found = 0;
    for (const { item, text } of operations) {
      item.hidden = !words.every((word) => text.includes(word));
      if (!item.hidden) found += 1;
    }
    chapter.hidden = !found;
    chapter.open = words.length > 0 && found > 0;
    count += found;
  }
  for (const group of document.querySelectorAll(".group")) {
    let next = group.nextElementSibling;
    group.hidden = true;
    for (; next && next.matches(".chapter"); next = next.nextElementSibling) if (!next.hidden) group.hidden = false;
  }
  said.textContent = words.length ? (count === 1 ? "1 operation" : `${count} operations`) : "";
}

/* A link to one operation or chapter opens the chapter that holds it. */
function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const chapter = target && target.closest(".chapter");
  if (!chapter) return;
  chapter.open = true;
  target.scrollIntoView();
}

search.hidden = false;
field.addEventListener("input", find);
addEventListener("hashchange", open);
open();
