// The laws between single columns: boxes from left to right, arrows from what determines to what is determined.

const BOX = { letter: 7.3, line: 17, padding: 9, gap: 14, between: 74, most: 26, lines: 8 };

function graphSection() {
  const graph = page.graph;
  if (!graph) return null;
  const boxes = graph.nodes.map(boxOf);
  const size = placeBoxes(boxes);
  const picture = draw("svg", { class: "graph", width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "group", "aria-label": "Graph of laws between single columns" });
  picture.append(arrowHead());
  const lines = draw("g", {});
  const ties = graph.nodes.map(() => []);
  for (const [from, to, isExact] of graph.edges) {
    const line = draw("path", { class: isExact ? "edge" : "edge almost", d: curve(boxes[from], boxes[to]), "marker-end": "url(#arrow)" });
    ties[from].push(line);
    ties[to].push(line);
    lines.append(line);
  }
  for (const [one, other, direction] of graph.orders) {
    const line = draw("path", { class: `order ${direction}`, d: bow(boxes[one], boxes[other]) }, draw("title", {}, `${boxes[one].name} and ${boxes[other].name} order rows alike (${direction})`));
    ties[one].push(line);
    ties[other].push(line);
    lines.append(line);
  }
  picture.append(lines, ...boxes.map((box, number) => drawBox(box, ties[number], sentence(number, graph, boxes))));
  const notes = [];
  if (graph.alone) notes.push(`${counted(graph.alone, "column")} ${graph.alone === 1 ? "has" : "have"} no such law.`);
  if (graph.left_out) notes.push(`${count(graph.left_out)} with fewer laws left out.`);
  const scroll = make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Graph" }, picture);
  return section("graph", "Laws between single columns", "graph", scroll, notes.length ? make("p", { class: "muted" }, notes.join(" ")) : null);
}

function boxOf(node) {
  const names = node.columns.map((position) => visible(columnName(position)));
  const shown = names.slice(0, BOX.lines).map((name) => (name.length > BOX.most ? `${name.slice(0, BOX.most - 1)}…` : name));
  if (names.length > BOX.lines) shown.push(`… ${names.length - BOX.lines} more`);
  const letters = Math.max(...shown.map((line) => line.length));
  return {
    name: names.join(" = "),
    lines: shown,
    layer: node.layer,
    place: node.place,
    width: letters * BOX.letter + 2 * BOX.padding,
    height: shown.length * BOX.line + BOX.padding,
  };
}

/** A column of boxes for each layer, in the middle of the picture's height. */
function placeBoxes(boxes) {
  const layers = [];
  for (const box of boxes) (layers[box.layer] ??= []).push(box);
  const heights = layers.map((layer) => layer.reduce((sum, box) => sum + box.height + BOX.gap, -BOX.gap));
  const height = Math.max(...heights) + 24;
  let left = 4;
  layers.forEach((layer, number) => {
    let top = (height - heights[number]) / 2;
    const width = Math.max(...layer.map((box) => box.width)); // of all, so that no line runs over a wider box
    for (const box of layer.sort((a, b) => a.place - b.place)) {
      Object.assign(box, { left, top, width });
      top += box.height + BOX.gap;
    }
    left += width + BOX.between;
  });
  return { width: left - BOX.between + 24, height };
}

function curve(from, to) {
  const [x1, y1] = [from.left + from.width, from.top + from.height / 2];
  const [x2, y2] = [to.left - 3, to.top + to.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`;
}

/** Between two boxes that order rows alike: from the right side of one to that of the other. */
function bow(one, other) {
  const [x1, y1] = [one.left + one.width, one.top + one.height / 2 + 4];
  const [x2, y2] = [other.left + other.width, other.top + other.height / 2 + 4];
  const out = Math.max(x1, x2) + 22;
  return `M${x1},${y1} C${out},${y1} ${out},${y2} ${x2},${y2}`;
}

function drawBox(box, ties, words) {
  const texts = box.lines.map((line, number) => draw("text", { x: box.left + BOX.padding, y: box.top + BOX.line * (number + 1) }, line));
  const shape = draw("g", { class: "box", tabindex: "0", role: "img", "aria-label": words }, draw("title", {}, words), draw("rect", { x: box.left, y: box.top, width: box.width, height: box.height, rx: 5 }), texts);
  const mark = (isOn) => ties.forEach((line) => line.classList.toggle("marked", isOn));
  for (const name of ["mouseenter", "focus"]) shape.addEventListener(name, () => mark(true));
  for (const name of ["mouseleave", "blur"]) shape.addEventListener(name, () => mark(false));
  return shape;
}

function sentence(number, graph, boxes) {
  const determined = graph.edges.filter(([from]) => from === number).map(([, to]) => boxes[to].name);
  return determined.length ? `${boxes[number].name} determines ${determined.join("; ")}` : boxes[number].name;
}

function arrowHead() {
  const tip = draw("path", { d: "M0,0 L8,4 L0,8 z", class: "tip" });
  return draw("defs", {}, draw("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, tip));
}
