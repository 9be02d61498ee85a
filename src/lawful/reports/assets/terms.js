// What each number means, one click away.

const termsByName = new Map(page.definitions.map((each) => [each.term, each]));

/** A button that tells what a word means. */
function termButton(term) {
  const known = termsByName.get(term);
  if (!known) return null;
  const label = `What is meant by ${known.name}?`;
  return make("button", { type: "button", class: "term", "aria-label": label, title: label, click: () => showTerm(term) }, "?");
}

function showTerm(term) {
  const known = termsByName.get(term);
  const close = make("button", { type: "button", class: "plain" }, "Close");
  const all = make("a", { href: "#definitions" }, "All definitions");
  const dialog = make(
    "dialog",
    { class: "small", "aria-labelledby": "term-title" },
    make("h2", { id: "term-title" }, known.name),
    make("p", {}, known.text),
    make("div", { class: "row" }, all, close),
  );
  openDialog(dialog, [close, all]);
}

/** Show a dialog above the page; it goes when it is closed, and the focus returns to where it was. */
function openDialog(dialog, closers) {
  for (const closer of closers) closer.addEventListener("click", () => closeAll(closer, dialog));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** A link leads away from all dialogs that are open, a button closes its own. */
function closeAll(closer, dialog) {
  if (closer.tagName !== "A") dialog.close();
  else for (const open of document.querySelectorAll("dialog[open]")) open.close();
}

function definitionsSection() {
  const list = make("dl", { class: "definitions" });
  for (const each of page.definitions) {
    list.append(make("dt", {}, each.name), make("dd", {}, each.text));
  }
  const limits = page.limits;
  const bounds =
    `A page has at most ${count(limits.laws)} laws, ${count(limits.broken)} laws with rows ` +
    `(${limits.groups} groups each, ${limits.variants} variants of a group, ${limits.places} rows of a variant), ` +
    `${count(limits.matrix)} columns in the matrix, ${count(limits.graph)} boxes in the graph, ` +
    `${limits.plots} plots of ${limits.points} points, ${count(limits.batches)} batches; ` +
    `values are cut after ${count(limits.cell)} characters, laws after ${count(limits.law)}.`;
  return section("definitions", "Definitions", null, list, make("p", { class: "muted" }, bounds));
}
