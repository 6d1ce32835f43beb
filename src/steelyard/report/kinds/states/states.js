"use strict";
// Shows one execution at a time; a click chooses the iteration from which on it looks stable.
(function () {
  const page = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const key = "steelyard-choices-" + page.digest;
  const mostLags = 40;
  const mostPairs = 600;
  let current = 0;
  let waiting = 0;
  let chosen = Object.assign(Object.create(null), page.chosen);

  function element(id) { return document.getElementById(id); }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function hue(light) { return dark.matches ? page.dark[light] || light : light; }

  // Mulberry32, by T. Ettinger: the same seed gives the same order in every browser.
  function generator(seed) {
    return function () {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  function reordered(values, seed) {
    const found = values.slice();
    const next = generator(seed);
    for (let i = found.length - 1; i > 0; i--) {
      const j = Math.floor(next() * (i + 1));
      [found[i], found[j]] = [found[j], found[i]];
    }
    return found;
  }

  function autocorrelation(values) {
    const count = values.length;
    const mean = values.reduce(function (a, b) { return a + b; }, 0) / count;
    const around = values.map(function (value) { return value - mean; });
    const total = around.reduce(function (sum, value) { return sum + value * value; }, 0);
    const found = [];
    for (let lag = 1; lag <= Math.min(mostLags, Math.floor(count / 4)); lag++) {
      let sum = 0;
      for (let i = lag; i < count; i++) sum += around[i] * around[i - lag];
      found.push(total > 0 ? sum / total : 0);
    }
    return found;
  }

  function layout(id, x, y, more) {
    const line = colour("--line");
    const axis = { gridcolor: line, linecolor: line, zeroline: false, automargin: true };
    return Object.assign({
      height: element(id).clientHeight,
      margin: { l: 8, r: 12, t: 6, b: 34 },
      showlegend: false,
      hovermode: "closest",
      font: { family: "system-ui, sans-serif", size: 11, color: colour("--muted") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      xaxis: Object.assign({ title: { text: x, standoff: 6 } }, axis),
      yaxis: Object.assign({ title: { text: y, standoff: 6 } }, axis),
    }, more);
  }

  function plot(id, data, figure) {
    return window.Plotly.react(id, data, figure, { displayModeBar: false, responsive: true });
  }

  // Few values far above the others would leave no room for them.
  function commonRange(values) {
    const known = values.filter(function (value) { return value !== null; });
    const sorted = known.sort(function (a, b) { return a - b; });
    const low = sorted[0];
    const high = sorted[Math.min(sorted.length - 1, Math.floor(0.995 * sorted.length))];
    const room = 0.08 * (high - low) || 0.05 * Math.abs(high) || 1;
    return [low - room, high + room];
  }

  function upright(at, tone, dash) {
    return { type: "line", x0: at - 0.5, x1: at - 0.5, yref: "paper", y0: 0, y1: 1,
      line: { color: tone, width: 2, dash: dash } };
  }

  function sequence(values, from, lines) {
    const x = values.map(function (_, i) { return i + from; });
    return [{ type: "scatter", mode: lines ? "lines" : "markers", x: x, y: values,
      line: { width: 0.8, color: hue("#0072B2") }, marker: { size: 3, color: hue("#0072B2") },
      hovertemplate: "iteration %{x}: %{y}<extra></extra>" }];
  }

  function drawWhole() {
    const one = page.executions[current];
    const range = commonRange(one.values.slice());
    const shapes = [];
    if (one.initialised !== null) shapes.push(upright(one.initialised, hue("#6B7B8C"), "dot"));
    if (one.label in chosen) shapes.push(upright(chosen[one.label], hue("#D55E00"), "solid"));
    const figure = layout("whole", "iteration", page.axis, {
      hovermode: "x", hoverdistance: -1, shapes: shapes,
    });
    figure.yaxis.range = range;
    const outside = one.values.filter(function (value) {
      return value !== null && (value > range[1] || value < range[0]);
    }).length;
    element("beyond").textContent = outside
      ? outside + " values lie beyond the axis; a double click shows all." : "";
    return plot("whole", sequence(one.values, 0, false), figure);
  }

  function drawRest(suffix, values, from, range, found, most) {
    const figure = layout("rest" + suffix, "iteration", page.axis);
    figure.yaxis.range = range;
    plot("rest" + suffix, sequence(values, from, true), figure);
    const bound = 1.96 / Math.sqrt(values.length);
    const edges = [bound, -bound].map(function (y) {
      return { type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y,
        line: { color: hue("#D55E00"), width: 1, dash: "dot" } };
    });
    const correlations = layout("acf" + suffix, "lag", "correlation", { shapes: edges });
    correlations.yaxis.range = [-most, most];
    plot("acf" + suffix, [{ type: "bar", x: found.map(function (_, i) { return i + 1; }),
      y: found, marker: { color: hue("#0072B2") } }], correlations);
    for (let lag = 1; lag <= 4; lag++) drawLag(suffix, values, lag, range);
  }

  function drawLag(suffix, values, lag, range) {
    const id = "lag-" + lag + suffix;
    const stride = Math.max(1, Math.ceil((values.length - lag) / mostPairs));
    const x = [], y = [];
    for (let i = lag; i < values.length; i += stride) {
      x.push(values[i - lag]);
      y.push(values[i]);
    }
    const figure = layout(id, "", "");
    figure.xaxis.range = range;
    figure.yaxis.range = range;
    plot(id, [{ type: "scatter", mode: "markers", x: x, y: y,
      marker: { size: 3, opacity: 0.6, color: hue("#0072B2") }, hoverinfo: "skip" }], figure);
  }

  function start(one) {
    if (one.label in chosen) return chosen[one.label];
    return one.initialised === null ? one.start_up_count : one.initialised;
  }

  function draw() {
    const one = page.executions[current];
    element("sequence-title").textContent = "Run sequence of execution " + one.label;
    element("about").textContent = one.about;
    element("iteration").max = one.values.length - 1;
    element("iteration").value = start(one);
    const from = start(one);
    drawWhole();
    list();
    // The first plot answers at once; who picks on does not wait for the others.
    window.clearTimeout(waiting);
    waiting = window.setTimeout(function () { drawOthers(one, from); }, 0);
  }

  function drawOthers(one, from) {
    const rest = one.values.slice(from).filter(function (value) { return value !== null; });
    const mixed = reordered(rest, page.seed + current);
    const range = commonRange(rest.slice());
    const found = [autocorrelation(rest), autocorrelation(mixed)];
    const most = Math.max(0.2, 2.2 / Math.sqrt(rest.length), ...found.flat().map(Math.abs));
    drawRest("", rest, from, range, found[0], most);
    drawRest("-mixed", mixed, from, range, found[1], most);
  }

  function list() {
    Array.from(element("picker").children).forEach(function (button, index) {
      button.setAttribute("aria-pressed", String(index === current));
      button.classList.toggle("chosen", page.executions[index].label in chosen);
    });
    element("choices").textContent = choicesText();
  }

  function choicesText() {
    return JSON.stringify({ schema: page.schema, kind: "choices", digest: page.digest,
      chosen: chosen }, null, 1) + "\n";
  }

  function choose(iteration) {
    const one = page.executions[current];
    if (iteration === null) delete chosen[one.label];
    else chosen[one.label] = Math.max(0, Math.min(one.values.length - 1, Math.round(iteration)));
    draw();
    save(one.label, one.label in chosen ? chosen[one.label] : null);
  }

  function save(label, iteration) {
    if (!page.server) {
      try { window.localStorage.setItem(key, JSON.stringify(chosen)); } catch (error) {
        element("told").textContent = "This browser keeps nothing; download the choices.";
        return;
      }
      element("told").textContent = "Kept in this browser.";
      return;
    }
    post("choice", { execution: label, iteration: iteration }).then(function (answer) {
      element("told").textContent = answer.ok ? "Saved." : "Not saved: " + answer.message;
    });
  }

  function post(what, body) {
    return window.fetch(what, { method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" } })
      .then(function (response) { return response.json(); })
      .catch(function () { return { ok: false, message: "Steelyard does not run any more." }; });
  }

  function restore() {
    if (page.server) return;
    try {
      const kept = JSON.parse(window.localStorage.getItem(key) || "{}");
      for (const one of page.executions) {
        if (Number.isInteger(kept[one.label])) chosen[one.label] = kept[one.label];
      }
    } catch (error) { element("told").textContent = "This browser keeps nothing."; }
  }

  page.executions.forEach(function (one, index) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = one.label;
    button.title = one.about;
    button.addEventListener("click", function () { current = index; draw(); });
    element("picker").append(button);
  });
  element("set").addEventListener("click", function () {
    const iteration = Number.parseInt(element("iteration").value, 10);
    if (Number.isInteger(iteration)) choose(iteration);
  });
  element("clear").addEventListener("click", function () { choose(null); });
  element("download").addEventListener("click", function () {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([choicesText()], { type: "application/json" }));
    link.download = "choices.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  element("done").hidden = !page.server;
  element("done").addEventListener("click", function () {
    post("done", {}).then(function (answer) {
      element("told").textContent = "";
      element("kept").textContent = answer.ok
        ? "Done: you can close this page; the answer is in the terminal." : answer.message;
    });
  });
  element("kept").textContent = page.server
    ? "Each is saved to " + page.choices_file + " as you click."
    : "They are kept in this browser; the analysis takes them from a file.";
  element("command").textContent = page.command;
  dark.addEventListener("change", draw);
  restore();
  if (page.executions.length) {
    drawWhole().then(function () {
      element("whole").on("plotly_click", function (event) { choose(event.points[0].x); });
    });
    draw();
  }
})();
