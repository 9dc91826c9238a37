"use strict";
// What is dragged over a place that takes it marks the place, and is dropped there.
function droppable(placeOf, use) {
  for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, (event) => {
    const ofFiles = event.dataTransfer.types.includes("Files");
    const place = event.target.closest && placeOf(event, ofFiles);
    if (ofFiles) event.preventDefault(); // a browser would leave the window for a file that is dropped beside
    if (!place) return;
    event.preventDefault();
    place.classList.toggle("over", kind === "dragover");
    if (kind === "drop") use(place, event.dataTransfer);
  });
}

// Files are dropped onto the field that picks them: <div class="drop"><input type="file"></div>.
const filled = (place, data) => { place.querySelector("input[type=file]").files = data.files; };
droppable((event, ofFiles) => ofFiles && event.target.closest(".drop"), filled);

// Ctrl+Enter sends the form of a text; <div class="completed" data-words="[...]"> completes words of its textarea.
const SQL = ("SELECT,DISTINCT,FROM,WHERE,GROUP BY,ORDER BY,HAVING,LIMIT,JOIN,USING,AND,OR,NOT,IN,BETWEEN,IS NULL,AS,CASE WHEN," +
  "THEN,ELSE,END,WITH,DESC,EXISTS,UNION ALL,count(*),count(DISTINCT ,sum(,avg(,min(,max(").split(",");
function offers(place, open, all = false) {
  const box = place.querySelector("textarea"), list = place.querySelector("[role=listbox]");
  const start = box.value.slice(0, box.selectionStart).match(/'[^'\n]*$|[\p{L}\p{N}_]*$/u)[0];
  const words = [...JSON.parse(place.dataset.words), ...SQL].filter((w) => w.toLowerCase().startsWith(start.toLowerCase()) && w !== start);
  const shown = open && (all || start.length > 0) ? words.slice(0, 50) : [];
  list.replaceChildren(...shown.map((word, i) => {
    const one = document.createElement("li");
    Object.assign(one, { textContent: word, id: "offer" + i });
    one.setAttribute("role", "option");
    return one;
  }));
  list.hidden = shown.length === 0;
  list.dataset.start = start;
  choose(box, list, list.hidden ? -1 : 0);
}
function choose(box, list, at) {
  [...list.children].forEach((one, i) => one.setAttribute("aria-selected", String(i === at)));
  if (at < 0) return box.removeAttribute("aria-activedescendant");
  box.setAttribute("aria-activedescendant", "offer" + at);
  list.children[at].scrollIntoView({ block: "nearest" });
}
function take(place, word) {
  const box = place.querySelector("textarea"), start = place.querySelector("[role=listbox]").dataset.start;
  box.setRangeText(word, box.selectionStart - start.length, box.selectionStart, "end");
  offers(place, false);
  box.focus();
}
document.addEventListener("input", (event) => {
  const place = event.target.closest(".completed");
  if (place) offers(place, true);
});
document.addEventListener("mousedown", (event) => {
  const one = event.target.closest(".completed [role=option]");
  for (const place of document.querySelectorAll(".completed")) if (!one) offers(place, false);
  if (!one) return;
  event.preventDefault();
  take(one.closest(".completed"), one.textContent);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.ctrlKey && event.target.form) return event.target.form.requestSubmit();
  const place = event.target.closest(".completed");
  if (!place) return;
  const box = event.target, list = place.querySelector("[role=listbox]"), all = [...list.children];
  const at = all.findIndex((one) => one.getAttribute("aria-selected") === "true");
  if (event.key === " " && event.ctrlKey) offers(place, true, true);
  else if (list.hidden) return;
  else if (event.key === "Escape") offers(place, false);
  else if (event.key === "Enter" || event.key === "Tab") take(place, all[at].textContent);
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(box, list, (at + (event.key === "ArrowDown" ? 1 : all.length - 1)) % all.length);
  else return;
  event.preventDefault();
});

// Trees: nodes are dragged onto groups, a ticked one with all that are ticked; arrows go from node to node, open and close.
const rowOf = (event) => event.target.closest && event.target.closest(".tree [data-node]");
document.addEventListener("dragstart", (event) => {
  const row = rowOf(event);
  if (!row) return;
  const box = row.querySelector("input");
  if (!box.checked) for (const other of row.closest(".tree").querySelectorAll("input")) other.checked = other === box;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", row.dataset.node);
});
droppable((event, ofFiles) => !ofFiles && event.target.closest(".tree [data-group]"), (row) => {
  const button = Object.assign(document.createElement("button"), { name: "do", value: `move:${row.dataset.node}`, hidden: true });
  row.append(button);
  button.click();
});
document.addEventListener("keydown", (event) => {
  const row = rowOf(event);
  if (!row || !event.key.startsWith("Arrow")) return;
  event.preventDefault();
  const rows = [...row.closest(".tree").querySelectorAll("[data-node]")], toggle = row.querySelector("button");
  const next = rows[rows.indexOf(row) + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
  if (next) next.querySelector("input").focus();
  else if (toggle && (toggle.ariaExpanded === "true") === (event.key === "ArrowLeft") && !/Up|Down/.test(event.key)) toggle.click();
});

// Who pressed a button that is gone, such as Stop, goes on where it was. A page that cannot be read again says so; work that is gone is no more waited for.
document.addEventListener("htmx:afterSettle", () => {
  if (document.activeElement === document.body) document.querySelector("main").focus({ preventScroll: true });
});
document.addEventListener("htmx:responseError", () => location.reload());
document.addEventListener("htmx:sendError", () => {
  const ended = Object.assign(document.createElement("p"), { className: "problem", textContent: "The window has ended. Start anondb ui again." });
  ended.setAttribute("role", "alert");
  for (const job of document.querySelectorAll(".job")) job.replaceWith(ended);
});
