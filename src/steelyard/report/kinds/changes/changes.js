"use strict";
// Draws each track when it comes into sight, and filters tracks and changes.
(function () {
  const embedded = JSON.parse(document.getElementById("drawn").textContent);
  const place = document.getElementById("tracks");
  const HEIGHT = 180, LEFT = 64, RIGHT = 12, TOP = 22, BOTTOM = 22, STEPS = 4095;
  const field = (name) => document.getElementById(name);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Numbers of which each is given as its distance from the last.
  function summed(distances) {
    let sum = 0;
    return distances.map((distance) => (sum += distance));
  }

  // The columns of a track, unpacked when it is first drawn.
  function columns(track) {
    if (!track.columns) {
      const height = track.top - track.bottom || 1;
      const real = (steps) => Float64Array.from(steps, (step) => track.bottom + (step / STEPS) * height);
      const index = summed(track.index);
      const revision = track.revision ? summed(track.revision) : index;
      const times = embedded.revisions[track.repository].times;
      track.columns = {
        index,
        place: track.place ? summed(track.place) : index,
        revision,
        time: revision.map((number) => times[number]),
        value: real(track.value),
        low: track.low ? real(track.low) : null,
        high: track.high ? real(track.high) : null,
      };
    }
    return track.columns;
  }

  const groups = new Map();
  for (const track of embedded.tracks) {
    const key = JSON.stringify([track.repository, track.benchmark, track.metric]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(track);
    track.group = groups.get(key);
  }

  function period() {
    const from = field("from").value ? Date.parse(field("from").value) / 1000 : -Infinity;
    const to = field("to").value ? Date.parse(field("to").value) / 1000 + 86400 : Infinity;
    return { from, to, whole: from === -Infinity && to === Infinity };
  }

  // The points of a track within the period.
  function visible(found, when) {
    const kept = [];
    for (let point = 0; point < found.value.length; point++) {
      const time = found.time[point];
      if (when.whole || (time !== null && time >= when.from && time <= when.to)) kept.push(point);
    }
    return kept;
  }

  function readable(value) {
    const size = Math.abs(value);
    return size !== 0 && (size >= 1e6 || size < 1e-3) ? value.toExponential(2) : value.toPrecision(4).replace(/\.?0+$/, "");
  }

  function scaled(track, kept, found) {
    let low = Infinity, high = -Infinity;
    for (const point of kept) {
      low = Math.min(low, found.low ? found.low[point] : found.value[point]);
      high = Math.max(high, found.high ? found.high[point] : found.value[point]);
    }
    const margin = (high - low) * 0.06 || Math.abs(high) * 0.01 || 1;
    return { low: low - margin, high: high + margin };
  }

  function median(values) {
    const sorted = Float64Array.from(values).sort();
    return sorted.length ? sorted[sorted.length >> 1] : 0;
  }

  function draw(box) {
    const track = box.track, canvas = box.canvas, found = columns(track);
    const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const kept = visible(found, period());
    if (!kept.length) {
      pen.fillStyle = colour("--muted");
      pen.font = "13px system-ui, sans-serif";
      pen.fillText("No value in this period.", LEFT, HEIGHT / 2);
      box.points = [];
      return;
    }
    const range = scaled(track, kept, found);
    const first = found.place[kept[0]], last = found.place[kept[kept.length - 1]];
    const x = (at) => LEFT + ((at - first) / (last - first || 1)) * (width - LEFT - RIGHT);
    const y = (value) => TOP + ((range.high - value) / (range.high - range.low)) * (HEIGHT - TOP - BOTTOM);
    frame(pen, width, range, y, track, kept, found);
    behind(pen, track, first, last, x, y, range, median(kept.map((point) => found.value[point])));
    if (found.low) band(pen, kept, found, x, y);
    values(pen, kept, found, x, y);
    levels(pen, track, found, kept, x, y);
    changes(pen, track, found, kept, x, width);
    box.points = kept.map((point) => ({ x: x(found.place[point]), point }));
  }

  function frame(pen, width, range, y, track, kept, found) {
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = colour("--muted");
    pen.strokeStyle = colour("--line");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (let step = 0; step <= 3; step++) {
      const value = range.low + ((step + 0.25) / 3.5) * (range.high - range.low);
      pen.beginPath();
      pen.moveTo(LEFT, y(value));
      pen.lineTo(width - RIGHT, y(value));
      pen.stroke();
      pen.fillText(readable(value), LEFT - 6, y(value));
    }
    const names = embedded.revisions[track.repository].names;
    const ends = [kept[0], kept[kept.length - 1]].map((point) => names[found.revision[point]]);
    pen.textBaseline = "bottom";
    pen.textAlign = "left";
    pen.fillText(ends[0], LEFT, HEIGHT - 3);
    pen.textAlign = "right";
    if (kept.length > 1) pen.fillText(ends[1], width - RIGHT, HEIGHT - 3);
    pen.textAlign = "left";
    pen.textBaseline = "top";
    if (track.unit) pen.fillText(track.unit, 2, 2);
  }

  // Other hosts of the same benchmark and metric, scaled to the median of this one.
  function behind(pen, track, first, last, x, y, range, middle) {
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP, pen.canvas.clientWidth - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    pen.clip();
    pen.strokeStyle = colour("--muted");
    pen.globalAlpha = 0.35;
    for (const other of track.group) {
      if (other === track) continue;
      const found = columns(other), inside = [];
      for (let point = 0; point < found.value.length; point++) {
        if (found.place[point] >= first && found.place[point] <= last) inside.push(point);
      }
      const factor = middle / (median(inside.map((point) => found.value[point])) || 1);
      pen.beginPath();
      inside.forEach((point, number) => {
        const at = [x(found.place[point]), y(found.value[point] * factor)];
        if (number) pen.lineTo(...at); else pen.moveTo(...at);
      });
      pen.stroke();
    }
    pen.restore();
  }

  function band(pen, kept, found, x, y) {
    pen.fillStyle = colour("--equivalent");
    pen.globalAlpha = 0.18;
    pen.beginPath();
    kept.forEach((point) => pen.lineTo(x(found.place[point]), y(found.high[point])));
    for (let number = kept.length - 1; number >= 0; number--) {
      pen.lineTo(x(found.place[kept[number]]), y(found.low[kept[number]]));
    }
    pen.fill();
    pen.globalAlpha = 1;
  }

  function values(pen, kept, found, x, y) {
    pen.strokeStyle = pen.fillStyle = colour("--equivalent");
    pen.lineWidth = 1;
    pen.globalAlpha = kept.length > 200 ? 0.75 : 0.5;
    pen.beginPath();
    kept.forEach((point) => pen.lineTo(x(found.place[point]), y(found.value[point])));
    pen.stroke();
    pen.globalAlpha = 1;
    if (kept.length > 200) return;
    for (const point of kept) {
      pen.beginPath();
      pen.arc(x(found.place[point]), y(found.value[point]), 2.2, 0, 7);
      pen.fill();
    }
  }

  // The place of the point with this index, or of the next one that is drawn.
  function placeOf(found, kept, index) {
    for (const point of kept) if (found.index[point] >= index) return found.place[point];
    return null;
  }

  function levels(pen, track, found, kept, x, y) {
    const from = found.index[kept[0]], to = found.index[kept[kept.length - 1]];
    pen.strokeStyle = colour("--ink");
    pen.lineWidth = 1.5;
    for (const [first, last, begins, ends] of track.levels) {
      if (last < from || first > to) continue;
      // Of a drift that is cut off, what is seen of its line.
      const along = (index) => begins + ((ends - begins) * (index - first)) / Math.max(1, last - first);
      const left = Math.max(first, from), right = Math.min(last, to);
      pen.beginPath();
      pen.moveTo(x(placeOf(found, kept, left)), y(along(left)));
      pen.lineTo(x(placeOf(found, kept, right)), y(along(right)));
      pen.stroke();
    }
  }

  function changes(pen, track, found, kept, x, width) {
    const from = found.index[kept[0]], to = found.index[kept[kept.length - 1]];
    const tones = { worse: "--slower", better: "--faster", neither: "--muted" };
    let free = LEFT;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "top";
    for (const change of track.changes) {
      if (change.index < from || change.index > to) continue;
      const at = x(placeOf(found, kept, change.index));
      pen.strokeStyle = pen.fillStyle = colour(tones[change.direction]);
      pen.lineWidth = 1.4;
      pen.setLineDash(change.kind === "creep" ? [2, 3] : change.kind === "noise" ? [6, 3] : []);
      pen.beginPath();
      pen.moveTo(at, TOP - 4);
      pen.lineTo(at, HEIGHT - BOTTOM);
      pen.stroke();
      pen.setLineDash([]);
      const named = change.kind === "step" || change.kind === "noise" ? "" : change.kind + " ";
      const text = named + change.size.split(" [")[0];
      const wide = pen.measureText(text).width, start = Math.min(at + 3, width - RIGHT - wide);
      if (start >= free) {
        pen.textAlign = "left";
        pen.fillText(text, start, 6);
        free = start + wide + 8;
      }
    }
  }

  function tell(box, event) {
    const left = event.offsetX, found = box.track.columns;
    if (!box.points || !box.points.length) return;
    let nearest = box.points[0];
    for (const candidate of box.points) {
      if (Math.abs(candidate.x - left) < Math.abs(nearest.x - left)) nearest = candidate;
    }
    const table = embedded.revisions[box.track.repository], number = found.revision[nearest.point];
    const time = table.times[number];
    const when = time === null ? "" : " · " + new Date(time * 1000).toISOString().slice(0, 10);
    const interval = found.low ? " [" + readable(found.low[nearest.point]) + ", " + readable(found.high[nearest.point]) + "]" : "";
    const change = box.track.changes.find((one) => one.index === found.index[nearest.point]);
    const told = change ? " · " + (change.kind === "noise" ? "" : change.kind + " ") + change.size : "";
    box.line.textContent = table.names[number] + when + ": " + readable(found.value[nearest.point]) + interval + " " + box.track.unit + told;
  }

  const boxes = embedded.tracks.map(function (track, number) {
    const box = { track };
    box.element = document.createElement("article");
    box.element.className = "track";
    box.element.id = "track-" + number;
    const title = document.createElement("h3");
    title.textContent = track.name;
    const about = document.createElement("span");
    about.textContent = track.count + " values, " + track.changes.length + " change" + (track.changes.length === 1 ? "" : "s");
    title.append(about);
    box.canvas = document.createElement("canvas");
    box.canvas.setAttribute("role", "img");
    box.canvas.setAttribute("aria-label", track.name + " along revisions");
    box.line = document.createElement("p");
    box.element.append(title, box.canvas, box.line);
    box.canvas.addEventListener("mousemove", (event) => tell(box, event));
    box.canvas.box = box;
    place.append(box.element);
    return box;
  });

  const seen = new Set();
  const watcher = new IntersectionObserver(function (entries) {
    for (const entry of entries) {
      const box = entry.target.box;
      if (entry.isIntersecting) {
        seen.add(box);
        draw(box);
      } else {
        seen.delete(box);
      }
    }
  }, { rootMargin: "400px" });
  boxes.forEach((box) => watcher.observe(box.canvas));
  const again = () => seen.forEach(draw);

  function filter() {
    const words = field("benchmark").value.toLowerCase(), metric = field("metric").value;
    const host = field("host").value, changed = field("changed").checked;
    const fits = (name, of, on) => name.toLowerCase().includes(words) && (!metric || of === metric) && (!host || on === host);
    let count = 0;
    for (const box of boxes) {
      const track = box.track;
      const shown = fits(track.benchmark, track.metric, track.host) && (!changed || track.changes.length > 0);
      box.element.hidden = !shown;
      count += shown ? 1 : 0;
    }
    for (const row of document.querySelectorAll("#changes tbody tr")) {
      row.hidden = !fits(row.dataset.benchmark, row.dataset.metric, row.dataset.host);
    }
    field("shown").textContent = count + " of " + boxes.length + " tracks";
    again();
  }

  const dated = embedded.revisions.some((table) => table.times.some((time) => time !== null));
  document.querySelectorAll(".dated").forEach((label) => { label.hidden = !dated; });
  field("changed").checked = boxes.length > 30 && boxes.some((box) => box.track.changes.length > 0);
  field("filters").addEventListener("input", filter);
  field("filters").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("resize", again);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.addEventListener("beforeprint", () => boxes.forEach((box) => { if (!box.element.hidden) draw(box); }));
  filter();
})();
