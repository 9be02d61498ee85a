// The data of the page: plain JSON, read once. Laws come as a list for each of their fields.

const page = JSON.parse(document.getElementById("data").textContent);
const laws = page.laws;
const lawCount = laws.text.length;

const BROKEN = 0;
const ALMOST = 1;
const HOLDS = 2;
const UNCHECKED = 3;
const STATUS_WORDS = ["broken", "almost", "holds", "not checked"];
const STATUS_TERMS = ["broken", "almost", "holds", "unchecked"];
const STATUS_MARKS = ["✕", "≈", "✓", "·"];

const KIND_WORDS = {
  key: ["key", "keys"],
  fd: ["functional dependency", "functional dependencies"],
  "canonical-od": ["order", "orders"],
  "list-od": ["list order", "list orders"],
  pod: ["pointwise order", "pointwise orders"],
  dc: ["denial constraint", "denial constraints"],
};

const follows = new Uint8Array(lawCount);
for (const place of laws.folded) follows[place] = 1;

const brokenOfLaw = new Map(page.broken.map((each) => [each.law, each]));

function kindOf(place) {
  return laws.kinds[laws.kind[place]];
}

function kindWord(kind, isOne = true) {
  const words = KIND_WORDS[kind];
  return words ? words[isOne ? 0 : 1] : visible(kind);
}

function columnName(position) {
  return page.table.columns[position].name;
}

function countOfStatus(status) {
  return laws.status.reduce((sum, each) => sum + (each === status ? 1 : 0), 0);
}

/** The mark of how a law fares: a sign and a word, so that it does not take colours to tell. */
function badge(status, isShort = false) {
  const sign = make("span", { "aria-hidden": "true", class: "sign" }, STATUS_MARKS[status]);
  const word = make("span", { class: isShort ? "unseen" : null }, STATUS_WORDS[status]);
  return make("span", { class: `badge status-${status}` }, sign, word);
}
