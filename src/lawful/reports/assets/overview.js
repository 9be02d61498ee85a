// The head of the page, the columns of the table, entities and keys, timings and settings.

function showHead() {
  const table = page.table;
  const size = [
    table.rows === null ? null : counted(table.rows, "row"),
    counted(table.columns.length, "column"),
    counted(page.total_laws, "law"),
  ].filter(Boolean);
  const made = [page.source === table.name ? null : `from ${visible(page.source)}`, `made ${page.made}`, page.version && `lawful ${page.version}`];
  const title = make("div", { class: "title" }, make("h1", {}, make("bdi", {}, visible(table.name))), make("p", {}, size.join(" · ")));
  const side = make("div", { class: "made" }, themeButton(), make("p", { class: "muted" }, made.filter(Boolean).join(" · ")));
  document.getElementById("top").append(title, side);
}

/** How the laws fare, in numbers that lead to them. */
function summary() {
  const tiles = [
    tile(countOfStatus(BROKEN), "broken", "broken", "#broken", "status-0"),
    tile(countOfStatus(ALMOST), "almost hold", "almost", "#broken", "status-1"),
    tile(countOfStatus(HOLDS), "hold", "holds", "#laws", "status-2"),
  ];
  const unchecked = countOfStatus(UNCHECKED);
  if (unchecked) tiles.push(tile(unchecked, "not checked", "unchecked", "#laws", "status-3"));
  for (const kind of laws.kinds) {
    const number = laws.kind.reduce((sum, each) => sum + (laws.kinds[each] === kind ? 1 : 0), 0);
    tiles.push(tile(number, kindWord(kind, number === 1), null, "#laws", ""));
  }
  const notes = page.notes.map((note) => make("p", { class: "note" }, visible(note)));
  const checked = page.checked === null ? null : make("p", { class: "muted" }, `${counted(page.checked, "law")} checked on this table when the page was made.`);
  return make("section", { id: "summary", "aria-label": "In numbers" }, make("div", { class: "tiles" }, tiles), notes, checked);
}

function tile(number, word, term, link, colour) {
  const main = make("a", { href: link, class: `tile ${colour}` }, make("strong", {}, count(number)), make("span", {}, word));
  return make("div", { class: "tile-box" }, main, term ? termButton(term) : null);
}

function columnsSection() {
  const rows = page.table.rows;
  const columns = [
    { name: "column" },
    { name: "type" },
    { name: "distinct", term: "distinct", number: true },
    { name: "nulls", term: "nulls", number: true },
    { name: "least" },
    { name: "greatest" },
    { name: "in laws", number: true },
  ];
  const uses = new Uint32Array(page.table.columns.length);
  for (const some of laws.columns) for (const column of some) uses[column] += 1;
  const lines = page.table.columns.map((column, position) => [
    make("bdi", { class: "name" }, visible(column.name)),
    column.type === null ? "" : visible(column.type),
    count(column.distinct),
    column.nulls ? `${count(column.nulls)}${rows ? ` (${percent(column.nulls / rows)})` : ""}` : count(column.nulls),
    column.min === null ? "" : cellValue(column.min),
    column.max === null ? "" : cellValue(column.max),
    uses[position] ? columnButton(position, uses[position]) : "0",
  ]);
  const left = page.table.left_out.length
    ? make("p", { class: "muted" }, `Left out, since laws are about single values: ${page.table.left_out.map(visible).join(", ")}.`)
    : null;
  return section("columns", "Table and columns", null, dataTable("Columns", columns, lines, { class: "columns" }), left);
}

function percent(part) {
  return part >= 0.995 && part < 1 ? ">99 %" : part < 0.005 ? "<1 %" : `${Math.round(100 * part)} %`;
}

/** Leads to the laws of one column. */
function columnButton(position, number) {
  const label = `${counted(number, "law")} with ${visible(columnName(position))}`;
  return make("button", { type: "button", class: "link", "aria-label": label, click: () => lawList.chooseColumn(position) }, count(number));
}

const STATEMENT_COLUMNS = [
  { name: "strength", term: "strength", number: true },
  { name: "tested", term: "tested", number: true },
  { name: "wrong rows", term: "removals", number: true },
  { name: "law", term: null },
];

function statementLines(statements) {
  return statements.map((each) => [
    share(each.strength),
    count(each.tested),
    each.wrong === null ? "" : each.wrong === 0 ? "none" : count(each.wrong),
    lawButton(each.weakest, each.text, each.laws > 1 ? ` (${each.laws} laws)` : ""),
  ]);
}

/** A law that shows its details when it is clicked. */
function lawButton(place, text, more = "") {
  if (place < 0) return lawText(text);
  return make("button", { type: "button", class: "link law", click: () => showLaw(place) }, visible(text), more ? make("span", { class: "muted" }, more) : null);
}

function shortSection() {
  if (!page.entities.length && !page.statements.length) return null;
  const parts = [];
  const add = (title, term, statements) => {
    if (!statements.length) return;
    parts.push(make("h3", {}, title, term ? termButton(term) : null), dataTable(title, STATEMENT_COLUMNS, statementLines(statements)));
  };
  add("Columns that determine each other", "entity", page.entities);
  add("Keys", null, page.statements.filter((each) => each.kind === "key"));
  for (const kind of laws.kinds.filter((each) => each !== "key")) {
    const words = kindWord(kind, false);
    add(words[0].toUpperCase() + words.slice(1), null, page.statements.filter((each) => each.kind === kind));
  }
  const more = page.more_statements ? make("p", { class: "muted" }, `${count(page.more_statements)} more are in the list below.`) : null;
  return section("short", "Entities and keys, laws in short", null, parts, more);
}

function settingsSection() {
  const times = page.seconds.map(([step, time]) => [visible(step), seconds(time)]);
  const counts = page.counts.map(([name, number]) => [visible(name), count(number)]);
  const settings = page.settings.map(([name, text]) => [visible(name), make("bdi", {}, visible(text))]);
  const parts = [];
  if (times.length) parts.push(make("h3", {}, "Timings", termButton("seconds")), dataTable("Timings", [{ name: "step" }, { name: "time", number: true }], times));
  if (counts.length) parts.push(make("h3", {}, "Counts"), dataTable("Counts", [{ name: "what" }, { name: "number", number: true }], counts));
  if (settings.length) parts.push(make("h3", {}, "Settings"), dataTable("Settings", [{ name: "setting" }, { name: "value" }], settings));
  return parts.length ? section("settings", "Timings and settings", null, make("div", { class: "side-by-side" }, group(parts))) : null;
}

/** Put each heading and its table together. */
function group(parts) {
  const boxes = [];
  for (let place = 0; place < parts.length; place += 2) boxes.push(make("div", {}, parts[place], parts[place + 1]));
  return boxes;
}
