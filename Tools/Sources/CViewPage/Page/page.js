// The script of the page of `kvo view`: findings, graph and timeline, which select the same things.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { slices, nodes, edges, findings, strings } = data;
  const count = slices.text.length;
  const by = (id) => document.getElementById(id);
  const make = (tag, classes, text) => {
    const made = document.createElement(tag);
    if (classes) made.className = classes;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const number = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const some = (n, noun) => number(n) + " " + noun + (n === 1 ? "" : "s");
  const time = (us) => (us >= 1e6 ? (us / 1e6).toFixed(2) + " s" : us >= 1000 ? (us / 1000).toFixed(2) + " ms" : us.toFixed(1) + " µs");
  const text = (i) => strings[slices.text[i]];
  const selection = { slice: -1, nodes: new Set(), edges: new Set() };

  document.title = "kvo view: " + data.title;
  by("title").textContent = data.title;
  by("facts").textContent = data.facts.join(" · ");

  // ---------------------------------------------------------------------------------------------------------- Findings
  const place = by("findings");
  const rows = [];
  const clickable = (element, slice) => {
    element.tabIndex = 0;
    rows.push([element, slice]);
    const go = () => { if (slice >= 0) { select(slice); reveal(slice); } };
    element.addEventListener("click", go);
    element.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  };
  showFindings(data, place, clickable, { make, number, some, time });

  // ------------------------------------------------------------------------------------------------------------- Graph
  const escape = (t) => t.replace(/[\u0000-\u001f]/g, " ").replace(/[&<>"]/g, (c) => "&#" + c.charCodeAt(0) + ";");
  const short = (t, most) => (t.length > most ? t.slice(0, most / 2 - 1) + "…" + t.slice(t.length - most / 2) : t);
  const traffic = nodes.map((n) => n.calls + n.sets);
  const busiest = Math.max(1, ...edges.map((e) => e.calls));
  const width = (calls) => (1 + (4 * Math.log1p(calls)) / Math.log1p(busiest)).toFixed(1);
  const keysOf = (edge) => {
    const all = Object.entries(edge.keys).sort((a, b) => b[1] - a[1]);
    const shown = all.slice(0, 3).map(([key, n]) => short(key, 28) + (n > 1 ? " ×" + number(n) : ""));
    return shown.join(", ") + (all.length > 3 ? " and " + (all.length - 3) + " more" : "");
  };
  const labelOf = (edge) => {
    const lines = ["&#160;" + escape((edge.kind === "sets" ? "sets " : "") + keysOf(edge)) + "&#160;"];
    const places = edge.kind === "observes" && nodes[edge.to].kind !== "observer" ? edge.places : [];
    if (places.length > 0) lines.push('<FONT POINT-SIZE="8">' + "&#160;" + escape(places.slice(0, 2).join(", ") + (places.length > 2 ? ", …" : "")) + "&#160;</FONT>");
    return lines;
  };
  const edgeOf = (from, to, kind) => edges.findIndex((edge) => edge.from === from && edge.to === to && edge.kind === kind);
  // Of an arrow by which a node sets itself: that by which it notifies itself.
  const inner = edges.map((edge) => (edge.from === edge.to && edge.kind === "sets" ? edgeOf(edge.from, edge.to, "observes") : -1));
  function dot(direction) {
    const out = ["digraph { rankdir=" + direction + "; nodesep=0.25; ranksep=0.45; bgcolor=transparent; nslimit=2; nslimit1=2; mclimit=0.5;",
      'node [shape=box, style="rounded,filled", fontname="Courier", fontsize=12, margin="0.12,0.06"]; edge [fontname="Courier", fontsize=10, arrowsize=0.7];'];
    const top = Math.max(1, ...traffic);
    nodes.forEach((node, i) => {
      if (node.count === 0) return;
      const size = (11 + (5 * Math.log1p(traffic[i])) / Math.log1p(top)).toFixed(1);
      const lines = ['<B><FONT POINT-SIZE="' + size + '">' + escape(short(node.name, 36)) + (node.count > 1 ? " ×" + number(node.count) : "") + "</FONT></B>"];
      if (node.detail) lines.push('<FONT POINT-SIZE="9">' + escape(short(node.detail, 40)) + "</FONT>");
      if (node.calls > 0) lines.push('<FONT POINT-SIZE="9">' + some(node.calls, "notification") + "</FONT>");
      const classes = node.kind + (node.circle ? " circle" : "");
      out.push("n" + i + ' [id="node-' + i + '", class="' + classes + '", tooltip="' + escape(node.name).replace(/\\/g, "\\\\") + '", penwidth=' + (node.circle ? 2.5 : 1) + ", label=<" + lines.join("<BR/>") + ">];");
    });
    // Of two arrows from a node to itself the outer one, which is the last, has both labels: it would cross that of the inner one.
    const order = [...edges.keys()].sort((a, b) => Math.sign(inner[a] + 1) - Math.sign(inner[b] + 1));
    for (const i of order) {
      const edge = edges[i], pair = inner[i] >= 0 ? labelOf(edges[inner[i]]) : [];
      const lines = inner.includes(i) ? [] : [...pair.map((line) => '<FONT COLOR="gray">' + line + "</FONT>"), ...labelOf(edge)];
      // From left to right a label is above its arrow, and may touch it.
      if (lines.length > 0 && direction === "LR") lines.push('<FONT POINT-SIZE="7">&#160;</FONT>');
      const classes = edge.kind + (edge.circle ? " circle" : ""), label = lines.length > 0 ? ", label=<" + lines.join("<BR/>") + ">" : "";
      out.push("n" + edge.from + " -> n" + edge.to + ' [id="edge-' + i + '", class="' + classes + '", penwidth=' + width(edge.calls) + (edge.kind === "sets" ? ", style=dashed" : "") + ', tooltip=" "' + label + "];");
    }
    return out.join("\n") + "}";
  }
  const drawing = by("drawing");
  let svg = null, whole = null, view = null;
  const showView = () => svg.setAttribute("viewBox", view.join(" "));
  const fit = () => { if (svg) { view = [...whole]; showView(); } };
  // At first the text can be read: of a large graph the part around a circle, or around the node with the most traffic, is shown. Where there
  // is neither, no part is more important than the whole.
  const leastScale = 0.6, muchTraffic = 20;
  function showFirst() {
    fit();
    const room = drawing.getBoundingClientRect();
    const hasMiddle = nodes.some((node, i) => node.count > 0 && (node.circle || traffic[i] >= muchTraffic));
    if (!hasMiddle || Math.min(room.width / view[2], room.height / view[3]) >= leastScale) return;
    const weight = (i) => (nodes[i].count === 0 ? -1 : traffic[i] + (nodes[i].circle ? 1e9 : 0));
    const middle = nodes.map((_, i) => i).reduce((a, b) => (weight(b) > weight(a) ? b : a));
    const box = svg.getElementById("node-" + middle).getBBox();
    const group = svg.getElementById("graph0").transform.baseVal.consolidate().matrix;
    const size = [room.width / leastScale, room.height / leastScale];
    const at = [box.x + box.width / 2 + group.e, box.y + box.height / 2 + group.f];
    for (const axis of [0, 1]) {
      const far = whole[axis] + whole[axis + 2] - size[axis];
      view[axis] = far < whole[axis] ? (far + whole[axis]) / 2 : Math.min(Math.max(at[axis] - size[axis] / 2, whole[axis]), far);
      view[axis + 2] = size[axis];
    }
    showView();
  }
  async function draw() {
    if (!nodes.some((n) => n.count > 0)) {
      drawing.textContent = "There are no observations.";
      return;
    }
    const graphviz = await globalThis.Graphviz.load();
    const room = drawing.getBoundingClientRect();
    // Of both directions the one that can be shown larger.
    const drawn = ["LR", "TB"].map((direction) => {
      const made = document.importNode(new DOMParser().parseFromString(graphviz.dot(dot(direction)), "image/svg+xml").documentElement, true);
      const [, , width, tall] = made.getAttribute("viewBox").split(/[ ,]+/).map(Number);
      return [Math.min(room.width / width, room.height / tall), made];
    });
    svg = drawn[drawn[1][0] > drawn[0][0] * 1.15 ? 1 : 0][1];
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    drawing.replaceChildren(svg);
    whole = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
    // A small graph is not blown up.
    const least = [room.width * 0.8, room.height * 0.8];
    for (const axis of [0, 1]) {
      const more = least[axis] - whole[axis + 2];
      if (more > 0 && whole[3 - axis] < least[1 - axis]) { whole[axis] -= more / 2; whole[axis + 2] += more; }
    }
    showFirst();
    nodes.forEach((_, i) => { const node = svg.getElementById("node-" + i); if (node) node.addEventListener("click", () => { if (!moved) selectNode(i); }); });
    edges.forEach((_, i) => { const edge = svg.getElementById("edge-" + i); if (edge) edge.addEventListener("click", () => { if (!moved) selectEdge(i); }); });
    markGraph();
    document.body.dataset.drawn = "true";
  }
  let grip = null, moved = false;
  drawing.addEventListener("pointerdown", (event) => { grip = [event.clientX, event.clientY]; moved = false; });
  window.addEventListener("pointerup", () => { grip = null; });
  drawing.addEventListener("pointermove", (event) => {
    if (!grip || !svg) return;
    const box = svg.getBoundingClientRect(), scale = Math.max(view[2] / box.width, view[3] / box.height);
    const [dx, dy] = [event.clientX - grip[0], event.clientY - grip[1]];
    if (Math.abs(dx) + Math.abs(dy) > 3) moved = true;
    if (!moved) return;
    view[0] -= dx * scale; view[1] -= dy * scale;
    grip = [event.clientX, event.clientY];
    showView();
  });
  drawing.addEventListener("wheel", (event) => {
    if (!svg) return;
    event.preventDefault();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const factor = Math.exp(event.deltaY * 0.0015);
    view = [point.x - (point.x - view[0]) * factor, point.y - (point.y - view[1]) * factor, view[2] * factor, view[3] * factor];
    showView();
  }, { passive: false });
  by("fit").addEventListener("click", fit);

  function markGraph() {
    if (!svg) return;
    svg.classList.toggle("has-selection", selection.nodes.size + selection.edges.size > 0);
    const near = new Set();
    edges.forEach((edge, i) => {
      const element = svg.getElementById("edge-" + i);
      if (!element) return;
      const touches = selection.slice < 0 && selection.edges.size === 0 && (selection.nodes.has(edge.from) || selection.nodes.has(edge.to));
      if (touches || selection.edges.has(i)) { near.add(edge.from); near.add(edge.to); }
      element.classList.toggle("selected", selection.edges.has(i));
      element.classList.toggle("near", touches || selection.edges.has(inner[i]));
    });
    nodes.forEach((_, i) => {
      const element = svg.getElementById("node-" + i);
      if (!element) return;
      element.classList.toggle("selected", selection.nodes.has(i));
      element.classList.toggle("near", near.has(i));
    });
  }

  // ----------------------------------------------------------------------------------------------------------- Details
  const details = by("details");
  const facts = (pairs) => {
    const list = make("dl");
    for (const [name, value] of pairs) if (value !== "" && value !== undefined && value !== null) list.append(make("dt", "", name), make("dd", "", value));
    return list;
  };
  const link = (i, prefix) => {
    const row = make("div", "row");
    row.append(make("span", "n", prefix ?? time(slices.length[i])), make("span", "", text(i)));
    row.addEventListener("click", () => { select(i); reveal(i); });
    return row;
  };
  const named = (i) => nodes[i].name + (nodes[i].count > 1 ? " ×" + number(nodes[i].count) : "") + (nodes[i].detail ? " " + nodes[i].detail : "");
  const childrenOf = (i) => { const all = []; for (let j = i + 1; j < count && slices.start[j] <= slices.start[i] + slices.length[i] + 1e-3; j++) if (slices.parent[j] === i) all.push(j); return all; };
  function describeSlice(i) {
    const is = slices.kind[i] === 0;
    details.replaceChildren(make("h2", "", text(i)), facts([
      [is ? "object" : "observer", named(slices.node[i])], ["registered", is ? "" : strings[slices.place[i]]],
      ["made by", strings[slices.by[i]]], ["thread", data.threads[slices.thread[i]].name || data.threads[slices.thread[i]].id],
      ["takes", time(slices.length[i])], ["at", time(slices.start[i])], ["notifications", number(slices.notifications[i] - (is ? 0 : 1)) + " inside"],
      ["observation", is ? "" : strings[slices.observation[i]]]]));
    const chain = [];
    for (let j = slices.parent[i]; j >= 0; j = slices.parent[j]) chain.unshift(j);
    if (chain.length > 0) {
      details.append(make("h2", "", "Because of"));
      chain.slice(0, 20).forEach((j) => details.append(link(j, "↓")));
      if (chain.length > 20) details.append(make("p", "note", "and " + (chain.length - 20) + " more"));
    }
    const inside = childrenOf(i);
    if (inside.length > 0) {
      details.append(make("h2", "", is ? "Notifies" : "Sets"));
      grouped(inside, 30);
    }
  }
  /** Lists slices, those of one name in one row that opens: the longest of them. */
  function grouped(matching, most) {
    const byName = new Map();
    for (const i of matching) byName.has(slices.text[i]) ? byName.get(slices.text[i]).push(i) : byName.set(slices.text[i], [i]);
    const groups = [...byName.values()].sort((a, b) => b.length - a.length);
    for (const group of groups.slice(0, most)) {
      if (group.length === 1) {
        details.append(link(group[0]));
        continue;
      }
      const row = make("summary", "row"), open = make("details"), words = make("span", "", text(group[0]));
      words.append(make("small", "", time(group.reduce((sum, i) => sum + slices.length[i], 0)) + " together"));
      row.append(make("span", "n", number(group.length) + " ×"), words);
      open.append(row);
      open.addEventListener("toggle", () => {
        [...group].sort((a, b) => slices.length[b] - slices.length[a]).slice(0, most).forEach((i) => open.append(link(i)));
        if (group.length > most) open.append(make("p", "note", "and " + number(group.length - most) + " shorter ones"));
      }, { once: true });
      details.append(open);
    }
    if (groups.length > most) details.append(make("p", "note", "and " + number(groups.slice(most).reduce((n, group) => n + group.length, 0)) + " more, of " + some(groups.length - most, "other name")));
  }
  function listSlices(title, matching, more) {
    details.replaceChildren(make("h2", "", title), more, make("h2", "", some(matching.length, "slice")));
    grouped(matching, 40);
  }
  const all = () => Array.from({ length: count }, (_, i) => i);

  // --------------------------------------------------------------------------------------------------------- Selection
  function changed() {
    for (const [element, slice] of rows) element.setAttribute("aria-current", String(slice >= 0 && slice === selection.slice));
    markGraph();
    paint();
  }
  function select(i) {
    selection.slice = i;
    const from = slices.parent[i] >= 0 ? slices.node[slices.parent[i]] : slices.code[i];
    selection.nodes = new Set([slices.node[i]]);
    selection.edges = new Set();
    if (from >= 0) {
      selection.nodes.add(from);
      const edge = edgeOf(from, slices.node[i], slices.kind[i] === 0 ? "sets" : "observes");
      if (edge >= 0) selection.edges.add(edge);
    }
    describeSlice(i);
    changed();
  }
  let chosen = null; // the slices of the selected node or edge
  function selectNode(i) {
    Object.assign(selection, { slice: -1, nodes: new Set([i]), edges: new Set() });
    const node = nodes[i], matching = all().filter((j) => slices.node[j] === i || slices.code[j] === i);
    listSlices(named(i), matching, facts([["is", node.kind === "code" ? "code that makes an outermost set" : node.kind], ["notified", node.calls ? number(node.calls) + " ×" : ""],
      ["sets", node.sets ? number(node.sets) + " ×" : ""], ["own time", node.calls ? time(node.time) : ""], ["circle", node.circle || ""]]));
    chosen = new Set(matching);
    changed();
  }
  function selectEdge(i) {
    const edge = edges[i];
    Object.assign(selection, { slice: -1, nodes: new Set([edge.from, edge.to]), edges: new Set([i]) });
    const kind = edge.kind === "sets" ? 0 : 1;
    const matching = all().filter((j) => slices.kind[j] === kind && slices.node[j] === edge.to && (slices.parent[j] >= 0 ? slices.node[slices.parent[j]] : slices.code[j]) === edge.from);
    const keys = Object.entries(edge.keys).map(([key, n]) => key + " ×" + number(n)).join(", ");
    listSlices(nodes[edge.from].name + (kind ? " notifies " : " sets ") + nodes[edge.to].name, matching, facts([["keys", keys], ["registered", edge.places.join(", ")], ["circle", edge.circle || ""]]));
    chosen = new Set(matching);
    changed();
  }

  // ---------------------------------------------------------------------------------------------------------- Timeline
  const canvas = by("slices"), context = canvas.getContext("2d"), tip = by("tip");
  const ROW = 18, AXIS = 20, NAME = 16;
  const last = Math.max(1, ...(count ? [slices.start.reduce((most, start, i) => Math.max(most, start + slices.length[i]), 0)] : []), ...data.instants.map((e) => e.time));
  const first = count ? slices.start.reduce((least, s) => Math.min(least, s), Infinity) : 0;
  let from = first - (last - first) * 0.01, until = last + (last - first) * 0.01, scroll = 0, found = null;
  // For each row of each thread its slices, in the order of time: those at one depth do not overlap.
  const lanes = data.threads.map(() => []);
  for (let i = 0; i < count; i++) (lanes[slices.thread[i]][slices.depth[i]] ??= []).push(i);
  const tops = [];
  let height = AXIS;
  lanes.forEach((rows) => { tops.push(height); height += NAME + rows.length * ROW + 8; });
  const x = (t) => ((t - from) / (until - from)) * canvas.clientWidth;
  const at = (px) => from + (px / canvas.clientWidth) * (until - from);
  const rectangle = (i) => {
    const left = x(slices.start[i]);
    return [left, tops[slices.thread[i]] + NAME + slices.depth[i] * ROW - scroll, Math.max(1, x(slices.start[i] + slices.length[i]) - left), ROW - 2];
  };
  let colours = {};
  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["back", "text", "muted", "line", "select", "change", "change-text", "delivery", "delivery-text", "red", "panel"]) colours[name] = style.getPropertyValue("--" + name).trim();
  }
  function paint() {
    const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.back;
    context.fillRect(0, 0, w, h);
    context.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
    context.textBaseline = "middle";
    data.threads.forEach((thread, t) => {
      context.fillStyle = colours.muted;
      context.fillText("thread " + (thread.name || "") + " " + thread.id, 4, tops[t] + NAME / 2 - scroll);
      lanes[t].forEach((row) => paintRow(row, w));
    });
    for (const instant of data.instants) {
      const px = x(instant.time);
      if (px < 0 || px > w) continue;
      const y = tops[instant.thread] + NAME - 4 - scroll;
      context.fillStyle = instant.isFault ? colours.red : colours.muted;
      if (instant.isFault) { context.fillRect(px - 1, y - 8, 2, 22); context.fillText(instant.name, px + 4, y - 4); } else context.fillRect(px, y, 1, 3);
    }
    paintAxis(w);
  }
  function paintRow(row, w) {
    // The first slice that may be visible.
    let low = 0, high = row.length;
    while (low < high) { const middle = (low + high) >> 1; if (slices.start[row[middle]] + slices.length[row[middle]] < from) low = middle + 1; else high = middle; }
    let painted = -1;
    for (let k = low; k < row.length; k++) {
      const i = row[k], [left, top, width, tall] = rectangle(i);
      if (left > w) break;
      const isMarked = i === selection.slice || (selection.slice < 0 && chosen && chosen.has(i)) || (found && found.has(i));
      if (left + width - painted < 0.5 && !isMarked) continue; // within the pixel of the one before
      painted = left + width;
      const quiet = found ? !found.has(i) : selection.slice < 0 && chosen ? !chosen.has(i) : false;
      context.globalAlpha = quiet ? 0.3 : 1;
      const isSet = slices.kind[i] === 0;
      context.fillStyle = isSet ? colours.change : colours.delivery;
      const shown = Math.max(0, left), visible = Math.min(w, left + width) - shown;
      context.fillRect(shown, top, Math.max(visible, 1) - (visible > 3 ? 1 : 0), tall);
      if (isMarked) { context.fillStyle = colours.select; context.fillRect(shown, top + tall - 3, Math.max(visible, 1), 3); }
      if (i === selection.slice) { context.strokeStyle = colours.select; context.lineWidth = 3; context.strokeRect(shown, top, Math.max(visible, 3), tall); }
      if (visible > 40) {
        context.fillStyle = isSet ? colours["change-text"] : colours["delivery-text"];
        const most = Math.floor((visible - 8) / 6.7), label = text(i);
        context.fillText(label.length > most ? label.slice(0, most - 1) + "…" : label, shown + 4, top + tall / 2);
      }
      context.globalAlpha = 1;
    }
  }
  function paintAxis(w) {
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, w, AXIS - 2);
    const span = until - from, rough = span / Math.max(2, w / 130), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
    context.fillStyle = colours.muted;
    for (let t = Math.ceil(from / step) * step; t <= until; t += step) {
      context.fillRect(x(t), 0, 1, AXIS - 2);
      context.fillText(step < 1 ? t.toFixed(2) + " µs" : time(t), x(t) + 4, AXIS / 2 - 1);
    }
  }
  const hit = (px, py) => {
    for (let t = lanes.length - 1; t >= 0; t--) {
      if (py + scroll < tops[t] + NAME || py < AXIS) continue;
      const row = lanes[t][Math.floor((py + scroll - tops[t] - NAME) / ROW)];
      if (!row) return -1;
      let best = -1;
      let low = 0, high = row.length;
      while (low < high) { const middle = (low + high) >> 1; if (slices.start[row[middle]] + slices.length[row[middle]] < at(px - 2)) low = middle + 1; else high = middle; }
      for (let k = low; k < row.length && slices.start[row[k]] <= at(px + 1); k++) { best = row[k]; if (slices.start[best] + slices.length[best] >= at(px)) break; }
      return best;
    }
    return -1;
  };
  const limit = () => {
    const least = 0.05, most = (last - first) * 1.1 + 1, middle = (from + until) / 2, half = Math.min(most, Math.max(least, until - from)) / 2;
    const centre = Math.min(last, Math.max(first, middle));
    [from, until] = [centre - half, centre + half];
    scroll = Math.max(0, Math.min(scroll, height - canvas.clientHeight));
  };
  let drag = null, dragged = false;
  canvas.addEventListener("pointerdown", (event) => { drag = [event.clientX, event.clientY]; dragged = false; });
  window.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const dx = event.clientX - drag[0], dy = event.clientY - drag[1];
      if (Math.abs(dx) + Math.abs(dy) > 3) dragged = true;
      if (dragged) {
        const shift = (dx / canvas.clientWidth) * (until - from);
        from -= shift; until -= shift; scroll -= dy; drag = [event.clientX, event.clientY];
        limit(); paint();
      }
      return;
    }
    const i = hit(event.offsetX, event.offsetY);
    tip.hidden = i < 0;
    if (i < 0) return;
    const is = slices.kind[i] === 0;
    tip.textContent = text(i) + " · " + time(slices.length[i]) + " · " + some(slices.notifications[i] - (is ? 0 : 1), "notification") + " inside" + (slices.by[i] >= 0 ? " · made by " + strings[slices.by[i]] : "");
    tip.style.left = Math.min(event.offsetX + 12, canvas.clientWidth - 320) + "px";
    tip.style.bottom = canvas.clientHeight - event.offsetY + 12 + "px";
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", (event) => {
    if (dragged) return;
    const i = hit(event.offsetX, event.offsetY);
    if (i >= 0) select(i);
    else clear();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey) scroll += event.deltaY;
    else {
      const centre = at(event.offsetX), factor = Math.exp(event.deltaY * 0.002);
      from = centre - (centre - from) * factor;
      until = centre + (until - centre) * factor;
    }
    limit(); paint();
  }, { passive: false });
  /** Zooms so that a slice is visible, with what is around it. */
  function reveal(i) {
    let outer = i;
    while (slices.parent[outer] >= 0) outer = slices.parent[outer];
    const length = Math.max(slices.length[i] * 6, 0.5), middle = slices.start[i] + slices.length[i] / 2;
    from = Math.max(slices.start[outer] - slices.length[outer] * 0.02, middle - length / 2);
    until = Math.min(slices.start[outer] + slices.length[outer] * 1.02, middle + length / 2);
    const top = tops[slices.thread[i]] + NAME + slices.depth[i] * ROW;
    if (top - scroll < AXIS || top - scroll > canvas.clientHeight - ROW) scroll = top - canvas.clientHeight / 2;
    limit(); paint();
  }
  by("all").addEventListener("click", () => { [from, until, scroll] = [first - (last - first) * 0.01, last + (last - first) * 0.01, 0]; clear(); });
  const field = by("search");
  let hits = [], turn = -1; // the slices that are found, and the one that Enter has selected
  /** Selects what the search finds, or nothing. */
  function clear() {
    const sought = field.value.trim().toLowerCase(), has = (t) => t.toLowerCase().includes(sought);
    const numbers = (list, holds) => new Set(sought ? list.flatMap((each, i) => (holds(each) ? [i] : [])) : []);
    const matching = numbers(strings, has);
    hits = sought ? all().filter((i) => matching.has(slices.text[i]) || matching.has(slices.place[i]) || matching.has(slices.by[i])) : [];
    turn = -1;
    found = sought ? new Set(hits) : null;
    chosen = null;
    Object.assign(selection, { slice: -1, nodes: numbers(nodes, (n) => n.count > 0 && has(n.name + " " + n.detail)), edges: numbers(edges, (e) => [...Object.keys(e.keys), ...e.places].some(has)) });
    by("matches").textContent = found ? some(hits.length, "slice") : "";
    if (found) listSlices("Found: " + field.value.trim(), hits, facts([["nodes", [...selection.nodes].slice(0, 10).map(named).join(", ") + (selection.nodes.size > 10 ? ", …" : "")], ["arrows", selection.edges.size || ""]]));
    else hint();
    changed();
  }
  field.addEventListener("input", clear);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || hits.length === 0) return;
    turn = event.shiftKey ? (Math.max(turn, 0) + hits.length - 1) % hits.length : (turn + 1) % hits.length;
    select(hits[turn]);
    reveal(hits[turn]);
    by("matches").textContent = number(turn + 1) + " of " + some(hits.length, "slice");
  });
  window.addEventListener("keydown", (event) => { if (event.key === "Escape") { field.value = ""; clear(); } });
  function hint() {
    details.replaceChildren(make("h2", "", "Nothing is selected"), make("p", "note", "Click a slice, a node, an arrow, or a row of the findings. What belongs to it is marked everywhere."));
  }
  const theme = matchMedia("(prefers-color-scheme: dark)");
  theme.addEventListener("change", () => { readColours(); paint(); });
  new ResizeObserver(() => { limit(); paint(); }).observe(canvas);

  // For tests: where a slice is on the canvas, and what is selected.
  globalThis.kvoView = { data, rectangle, selection };
  hint();
  readColours();
  paint();
  if (findings.avalanches.length > 0 && findings.avalanches[0].slice >= 0) {
    // The first view is that of the largest avalanche.
    const i = findings.avalanches[0].slice;
    from = slices.start[i] - slices.length[i] * 0.02;
    until = slices.start[i] + slices.length[i] * 1.02;
    limit(); paint();
  }
  draw().catch((error) => { drawing.textContent = "The graph cannot be drawn: " + error; });
})();
