// Making elements. Texts of anyone's making only ever become text nodes and attributes' values, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: properties are set as attributes, functions as listeners; children are elements and texts. */
function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** The same for a picture. */
function draw(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Write characters that do not print, or that turn a line around, as escapes. */
function visible(text) {
  return String(text).replace(UNSEEN, (character) => {
    const code = character.codePointAt(0).toString(16);
    return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\u{${code}}`;
  });
}

/** A value of a cell: null and the empty text can be told from the words for them. */
function cellValue(value) {
  if (value === null) return make("span", { class: "null" }, "null");
  if (value === "") return make("span", { class: "null" }, "empty");
  return make("bdi", {}, visible(value));
}

const WHOLE = new Intl.NumberFormat("en");

function count(number) {
  return number === null || number === undefined ? "" : WHOLE.format(number);
}

function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** A share between 0 and 1 in three digits; 1 and 0 are only said of what is 1 or 0. */
function share(number) {
  if (number === null || number === undefined) return "";
  if (number === 0 || number === 1) return String(number);
  if (number < 0.0005) return "<0.001";
  return Math.min(number, 0.999).toFixed(3);
}

function seconds(number) {
  if (number >= 10) return `${number.toFixed(0)} s`;
  return number >= 0.1 ? `${number.toFixed(2)} s` : `${(1000 * number).toFixed(1)} ms`;
}

/** A law in its notation. */
function lawText(text, tag = "code") {
  return make(tag, { class: "law", dir: "ltr" }, visible(text));
}

/** A part of the page with a heading, which the contents lead to. */
function section(id, title, term, ...children) {
  const heading = make("h2", { id: `${id}-title` }, title, term ? termButton(term) : null);
  return make("section", { id, "aria-labelledby": `${id}-title` }, heading, ...children);
}

/** A table of data: columns are {name, term, number}, rows are lists of cells. */
function dataTable(label, columns, rows, properties = {}) {
  const head = columns.map((column) =>
    make("th", { scope: "col", class: column.number ? "number" : null }, column.name, column.term ? termButton(column.term) : null),
  );
  const body = rows.map((cells) =>
    make("tr", {}, cells.map((cell, place) => make("td", { class: columns[place].number ? "number" : null, "data-label": columns[place].number ? columns[place].name : null }, cell))),
  );
  const table = make("table", { "aria-label": label, ...properties }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, body));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}
