"use strict";
// Draws each figure when it comes into sight, in the colours of the page.
(function () {
  const embedded = JSON.parse(document.getElementById("figures").textContent);
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = new Set();
  let printing = false;

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function themed(layout) {
    const ink = printing ? "#1c2128" : colour("--muted");
    const line = printing ? "#dfe3e8" : colour("--line");
    // A finger that drags over a plot means to scroll the page.
    const axis = { gridcolor: line, linecolor: line, tickcolor: line, fixedrange: touch };
    return Object.assign({}, layout, {
      font: { family: "system-ui, sans-serif", size: 12, color: ink },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hoverlabel: { bgcolor: colour("--card"), bordercolor: line, font: { color: colour("--ink") } },
      xaxis: Object.assign({}, layout.xaxis, axis),
      yaxis: Object.assign({}, layout.yaxis, axis),
    });
  }

  // On a narrow page a long title of the axis below is broken into lines, and gets their room.
  function fitted(layout, width) {
    const title = layout.xaxis && layout.xaxis.title;
    const most = Math.max(16, Math.floor(width / 8.5));
    if (!title || !title.text || title.text.length <= most) return layout;
    const lines = [""];
    for (const word of title.text.split(/\s+/)) {
      const last = lines[lines.length - 1];
      if (last && last.length + word.length >= most) lines.push(word);
      else lines[lines.length - 1] = last ? last + " " + word : word;
    }
    return Object.assign({}, layout, {
      height: layout.height + 16 * (lines.length - 1),
      xaxis: Object.assign({}, layout.xaxis, {
        title: Object.assign({}, title, { text: lines.join("<br>") }),
      }),
    });
  }

  function coloured(figure) {
    const text = JSON.stringify(figure);
    if (printing || !dark.matches) return JSON.parse(text);
    return JSON.parse(text.replace(/#[0-9A-Fa-f]{6}/g, function (light) {
      return embedded.dark[light] || light;
    }));
  }

  function draw(place) {
    const figure = coloured(embedded.figures[place.id]);
    drawn.add(place);
    const layout = themed(fitted(figure.layout, place.clientWidth));
    if (layout.height) place.style.height = layout.height + "px";
    window.Plotly.react(place, figure.data, layout, { displayModeBar: false });
    if (figure.layout.meta && figure.layout.meta.zooms && !place.dataset.zooms) {
      place.dataset.zooms = "yes";
      place.on("plotly_click", function (clicked) {
        const box = clicked.points[0].customdata;
        window.Plotly.relayout(place, { "xaxis.range": [box[1], box[2]] });
      });
    }
  }

  const places = Array.from(document.querySelectorAll(".canvas"));
  const sight = new IntersectionObserver(function (entries) {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        sight.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "400px" });
  places.forEach(function (place) { sight.observe(place); });

  // Plotly itself follows the window only; a figure's room also changes with the page around it.
  const room = new ResizeObserver(function (entries) {
    for (const entry of entries) {
      if (drawn.has(entry.target)) window.Plotly.Plots.resize(entry.target);
    }
  });
  places.forEach(function (place) { room.observe(place); });

  dark.addEventListener("change", function () { drawn.forEach(draw); });
  window.addEventListener("beforeprint", function () {
    printing = true;
    places.forEach(draw);
  });
  window.addEventListener("afterprint", function () {
    printing = false;
    places.forEach(draw);
  });
})();
