// What a reader of screens and a keyboard need, looked for in the whole page: returns sentences about what is wrong.
const wrong = [];
const told = (element) => `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ""}.${element.getAttribute("class") ?? ""}`;
const isShown = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";

// Names: every control says what it does.
const nameOf = (element) =>
  (element.getAttribute("aria-label") ||
    (element.getAttribute("aria-labelledby") && document.getElementById(element.getAttribute("aria-labelledby"))?.textContent) ||
    (element.labels && [...element.labels].map((label) => label.textContent).join(" ")) ||
    element.textContent || "").trim();
for (const element of document.querySelectorAll("button, a[href], input, select, [role=grid], [role=img], [role=region], nav, section, dialog, svg")) {
  if (isShown(element) && !nameOf(element) && !element.closest("[aria-hidden=true]")) wrong.push(`no name: ${told(element)}`);
}

// Headings go down one level at a time, and there is one of the first.
let level = 0;
for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1) wrong.push(`heading of level ${own} after level ${level}: ${heading.textContent}`);
  level = own;
}
if (document.querySelectorAll("h1").length !== 1) wrong.push("there is not one h1");

// Ids are there once, and what refers to one finds it.
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
if (new Set(ids).size !== ids.length) wrong.push("an id is there twice");
for (const name of ["aria-labelledby", "aria-activedescendant", "for"]) {
  for (const element of document.querySelectorAll(`[${name}]`)) {
    if (!document.getElementById(element.getAttribute(name))) wrong.push(`${name} leads nowhere: ${told(element)}`);
  }
}
for (const link of document.querySelectorAll('a[href^="#"]')) {
  if (!document.getElementById(link.getAttribute("href").slice(1))) wrong.push(`a link leads nowhere: ${link.href}`);
}

// The Tab key goes where things stand: no positive tabindex. What scrolls can be reached.
for (const element of document.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) wrong.push(`tabindex: ${told(element)}`);
for (const element of document.querySelectorAll("main *")) {
  const style = getComputedStyle(element);
  const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY) && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1);
  if (scrolls && element.tabIndex < 0 && !element.querySelector("[tabindex], button, a") && !element.closest("[role=grid]")) wrong.push(`cannot be scrolled by keys: ${told(element)}`);
}

// Roles stand in each other as they must.
for (const cell of document.querySelectorAll("[role=gridcell]")) if (!cell.closest("[role=row], tr")) wrong.push("a gridcell without a row");
for (const row of document.querySelectorAll("[role=row]")) if (!row.closest("[role=grid]")) wrong.push("a row without a grid");

// Contrast of all texts against what is behind them: 4.5 to 1.
const parse = (colour) => {
  const numbers = colour.match(/[\d.]+/g).map(Number);
  return numbers.length < 4 ? [...numbers, 1] : numbers;
};
const light = ([r, g, b]) =>
  [r, g, b].map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour[3] > 0) return colour;
  }
  return [255, 255, 255, 1];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !isShown(element) || element.closest("script, style, svg, noscript, [aria-hidden=true], .how-holds, .skip")) continue;
  const style = getComputedStyle(element);
  const pair = `${style.color} ${behind(element)}`;
  if (seen.has(pair)) continue;
  seen.add(pair);
  const [one, other] = [light(parse(style.color)), light(behind(element))].sort((a, b) => b - a);
  const contrast = (one + 0.05) / (other + 0.05);
  if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(2)}: ${told(element)} ${walker.currentNode.textContent.trim().slice(0, 30)}`);
}

// Things to press are not too small.
for (const element of document.querySelectorAll("button, input, select")) {
  const { width, height } = element.getBoundingClientRect();
  const isInText = element.closest("td, dt, .grid-row, figcaption, .facts");
  if (isShown(element) && !isInText && (width < 24 || height < 24) && element.type !== "checkbox") wrong.push(`small: ${told(element)} ${width} x ${height}`);
}
if (document.documentElement.scrollWidth > innerWidth) wrong.push(`wider than the window: ${document.documentElement.scrollWidth}`);
if (!document.documentElement.lang || !document.title) wrong.push("no language or title");
return wrong;
