"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const stage = document.getElementById("stage");
  const svg = stage.querySelector("svg");
  const panel = document.getElementById("panel");
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const nodes = [...svg.querySelectorAll("[data-node]")];
  const edges = [...svg.querySelectorAll("[data-edge]")];
  const offKinds = new Set();
  const offTypes = new Set();
  let pinned = null;
  let matches = [];
  let matchAt = -1;

  // The native tooltips of the picture would cover what the panel says.
  svg.querySelectorAll(".node > title").forEach((title) => title.remove());
  const linksOf = data.nodes.map(() => []);
  data.edges.forEach((edge, at) => {
    linksOf[edge.source].push(at);
    if (edge.target !== edge.source) linksOf[edge.target].push(at);
  });

  // View: the part of the picture that is seen.
  const whole = svg.viewBox.baseVal;
  const all = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  let view = { ...all };
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const scale = () => Math.min(stage.clientWidth / view.width, stage.clientHeight / view.height) || 1;
  const point = (event) => {
    const box = svg.getBoundingClientRect();
    const factor = scale();
    return {
      x: view.x + view.width / 2 + (event.clientX - box.left - box.width / 2) / factor,
      y: view.y + view.height / 2 + (event.clientY - box.top - box.height / 2) / factor,
    };
  };
  const zoom = (factor, at) => {
    const bounded = Math.min(Math.max(view.width * factor, 120), all.width * 4) / view.width;
    const centre = at || { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    view.x = centre.x - (centre.x - view.x) * bounded;
    view.y = centre.y - (centre.y - view.y) * bounded;
    view.width *= bounded;
    view.height *= bounded;
    show();
  };
  const fit = () => { view = { ...all }; show(); };
  const shift = svg.querySelector("g[transform]");
  const origin = shift ? shift.transform.baseVal.consolidate().matrix : { e: 0, f: 0 };
  const centreOn = (at) => {
    const width = Math.min(view.width, Math.max(stage.clientWidth / 1.1, 300));
    const height = width * view.height / view.width;
    view = { x: data.nodes[at].x + origin.e - width / 2, y: data.nodes[at].y + origin.f - height / 2, width, height };
    show();
  };

  const pointers = new Map();
  let moved = 0;
  stage.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    moved = 0;
  });
  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const others = [...pointers.values()].filter((other) => other.pointerId !== event.pointerId);
    if (others.length) {
      const span = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY) || 1;
      zoom(span(before) / span(event), point(event));
    } else {
      view.x -= (event.clientX - before.clientX) / scale();
      view.y -= (event.clientY - before.clientY) / scale();
      show();
    }
    moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    if (moved > 4 && !stage.hasPointerCapture(event.pointerId)) {
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("moving");
    }
    pointers.set(event.pointerId, event);
  });
  const release = (event) => { pointers.delete(event.pointerId); stage.classList.remove("moving"); };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(Math.max(-80, Math.min(80, event.deltaY)) * 0.004), point(event));
  }, { passive: false });
  document.getElementById("closer").addEventListener("click", () => zoom(0.75));
  document.getElementById("wider").addEventListener("click", () => zoom(1 / 0.75));
  document.getElementById("fit").addEventListener("click", fit);

  // Panel: everything is put in as text, never as markup.
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const describe = (at) => {
    panel.replaceChildren();
    if (at === null) {
      panel.append(make("p", "hint", data.nodes.length
        ? "Point at a node to read it, click to keep it. Drag to move, wheel to zoom, click the chips above to filter."
        : "This graph has no nodes yet."));
      return;
    }
    const node = data.nodes[at];
    panel.append(make("h2", node.kind, node.kindTitle), make("p", "words", node.text));
    if (typeof node.confidence === "number") {
      const bar = make("div", `bar ${node.kind}`);
      const fill = make("i");
      fill.style.width = `${Math.round(node.confidence * 100)}%`;
      bar.title = `confidence ${node.confidence.toFixed(2)}`;
      bar.append(fill);
      panel.append(bar);
    }
    const facts = make("dl");
    node.facts.forEach(([name, value]) => facts.append(make("dt", "", name), make("dd", "", value)));
    panel.append(facts);
    if (linksOf[at].length) panel.append(make("h3", "", `${linksOf[at].length} links`));
    linksOf[at].slice().reverse().forEach((edgeAt) => {
      const edge = data.edges[edgeAt];
      const outward = edge.source === at;
      const other = outward ? edge.target : edge.source;
      const link = make("button", "link");
      link.type = "button";
      link.append(make("span", `type ${edge.slug}`, outward ? `${edge.type} →` : `← ${edge.type}`), make("div", "", data.nodes[other].caption));
      edge.rows.forEach((row) => {
        if (row.facts.length) link.append(make("div", "facts", row.facts.join(" · ")));
        row.evidence.forEach((words) => link.append(make("q", "", words)));
      });
      link.addEventListener("click", () => { choose(other); centreOn(other); });
      panel.append(link);
    });
  };

  const refresh = () => {
    const words = search.value.trim().toLocaleLowerCase();
    matches = [];
    const shown = data.nodes.map((node, at) => {
      const away = offKinds.has(node.kind);
      if (!away && words && `${node.text}\n${node.caption}\n${node.facts.map((fact) => fact[1]).join("\n")}`.toLocaleLowerCase().includes(words)) matches.push(at);
      return !away;
    });
    const near = new Set();
    if (pinned !== null) {
      near.add(pinned);
      linksOf[pinned].forEach((at) => { near.add(data.edges[at].source); near.add(data.edges[at].target); });
    }
    const hit = new Set(matches);
    nodes.forEach((element) => {
      const at = Number(element.dataset.node);
      element.classList.toggle("away", !shown[at]);
      element.classList.toggle("faint", words ? !hit.has(at) : pinned !== null && !near.has(at));
      element.classList.toggle("chosen", at === pinned);
    });
    edges.forEach((element) => {
      const edge = data.edges[Number(element.dataset.edge)];
      element.classList.toggle("away", offTypes.has(edge.slug) || !shown[edge.source] || !shown[edge.target]);
      element.classList.toggle("faint", words ? !(hit.has(edge.source) && hit.has(edge.target)) : pinned !== null && edge.source !== pinned && edge.target !== pinned);
    });
    found.textContent = words ? `${matches.length} found` : "";
  };
  const choose = (at) => { pinned = at; describe(at); refresh(); };

  nodes.forEach((element) => {
    const at = Number(element.dataset.node);
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", `${data.nodes[at].kindTitle}: ${data.nodes[at].caption}`);
    element.addEventListener("pointerenter", () => { if (pinned === null && !pointers.size) describe(at); });
    element.addEventListener("focus", () => { if (pinned === null) describe(at); });
    element.addEventListener("click", (event) => {
      event.stopPropagation();
      if (moved <= 4) choose(pinned === at ? null : at);
    });
    element.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(at); });
  });
  stage.addEventListener("click", () => { if (moved <= 4) choose(null); });
  const chips = (name, off) => document.querySelectorAll(`[data-${name}]`).forEach((chip) => {
    const slug = chip.dataset[name];
    if (chip.getAttribute("aria-pressed") === "false") off.add(slug);
    chip.addEventListener("click", () => {
      const on = off.delete(slug);
      if (!on) off.add(slug);
      chip.setAttribute("aria-pressed", String(on));
      refresh();
    });
  });
  chips("kind", offKinds);
  chips("type", offTypes);
  search.addEventListener("input", () => { matchAt = -1; refresh(); });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && matches.length) {
      matchAt = (matchAt + 1) % matches.length;
      describe(matches[matchAt]);
      centreOn(matches[matchAt]);
    }
    if (event.key === "Escape") { search.value = ""; refresh(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") zoom(0.75);
    else if (event.key === "-") zoom(1 / 0.75);
    else if (event.key === "0") fit();
    else if (event.key === "/") { event.preventDefault(); search.focus(); }
    else if (event.key === "Escape") choose(null);
  });
  describe(null);
  refresh();
  document.documentElement.dataset.ready = "true";
})();
