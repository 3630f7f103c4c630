// The page: text around the lanes, zooming and moving, what the pointer tells.

const $ = (id) => document.getElementById(id);
const make = (tag, text, name) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
};
const kLabels = 104;  // pixels left of the axis
const kSentences = 4;  // of each kind in full view

class Stage {
  constructor(run) {
    this.run = run;
    this.lanes = makeLanes(run);
    this.colors = new Map();
    this.home = [-0.01 * run.end, run.end * 1.01 + 1];
    this.view = { run, left: kLabels, width: 100, height: 100, from: this.home[0], to: this.home[1], color: (name) => this.color(name) };
    this.choose(run.partitions.length ? run.partitions[0].partition : 0);
    this.listen();
    this.resize();
  }

  choose(number) {
    this.view.partitionNumber = number;
    this.view.partition = this.run.partitions.find((one) => one.partition === number) ?? { partition: number, changes: [], replicas: [] };
  }

  color(name) {
    if (!this.colors.has(name)) this.colors.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
    return this.colors.get(name);
  }

  resize() {
    const width = $("stage").clientWidth, ratio = window.devicePixelRatio || 1;
    const height = this.lanes.reduce((sum, lane) => sum + lane.height, 6);
    for (const id of ["lanes", "cursor"]) {
      const canvas = $(id);
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      canvas.style.height = height + "px";
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    Object.assign(this.view, { width: Math.max(width - kLabels - 12, 50), height });
    this.draw();
  }

  // Every lane sees the same from and to.
  show(from, to) {
    const least = 20, most = this.home[1] - this.home[0];
    let span = Math.min(Math.max(to - from, least), most);
    let start = (from + to - span) / 2;
    start = Math.min(Math.max(start, this.home[0]), this.home[1] - span);
    this.view.from = start;
    this.view.to = start + span;
    this.draw();
  }

  zoom(factor, x = kLabels + this.view.width / 2) {
    const at = tickOf(this.view, x);
    this.show(at - (at - this.view.from) * factor, at + (this.view.to - at) * factor);
  }

  draw() {
    const ctx = $("lanes").getContext("2d"), view = this.view;
    ctx.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    ctx.textBaseline = "middle";
    ctx.fillStyle = this.color("paper");
    ctx.fillRect(0, 0, view.width + kLabels + 12, view.height);
    this.boxes = [];
    let top = 0;
    this.lanes.forEach((lane, index) => {
      const box = { top, height: lane.height };
      this.boxes.push(box);
      ctx.fillStyle = this.color("soft");
      if (lane.height < 60) {
        ctx.textAlign = "right";
        ctx.fillText(lane.name.length > 15 ? lane.name.slice(0, 14) + "…" : lane.name, kLabels - 8, top + lane.height / 2);
        ctx.textAlign = "left";
      }
      ctx.save();
      ctx.beginPath();
      if (lane.height < 60 && index > 0) ctx.rect(kLabels, top, view.width + 12, lane.height);
      else ctx.rect(0, top, view.width + kLabels + 12, index === 0 ? view.height : lane.height);
      ctx.clip();
      if (lane.height >= 60) this.shadeFaults(ctx, box);
      lane.draw(ctx, view, box);
      ctx.restore();
      if (lane.height >= 60) {
        ctx.fillStyle = this.color("soft");
        ctx.fillText(lane.name, kLabels + 6, top + 10);
        ctx.fillStyle = this.color("line");
        ctx.fillRect(0, top, view.width + kLabels + 12, 1);
      }
      top += lane.height;
    });
    this.markMoments(ctx);
    document.documentElement.dataset.shown = String(view.shown);
  }

  shadeFaults(ctx, box) {
    for (const fault of this.run.faults) {
      if (!fault.ok || fault.end === null) continue;
      ctx.fillStyle = this.color("fault");
      ctx.globalAlpha = 0.07;
      const left = Math.max(xOf(this.view, fault.effective), kLabels), right = xOf(this.view, fault.end);
      if (right > left) ctx.fillRect(left, box.top, right - left, box.height);
      ctx.globalAlpha = 1;
    }
  }

  // Heal, and the violations, over all lanes.
  markMoments(ctx) {
    const view = this.view;
    const line = (tick, color, dash) => {
      const x = xOf(view, tick);
      if (x < kLabels || x > kLabels + view.width) return;
      ctx.strokeStyle = this.color(color);
      ctx.setLineDash(dash);
      ctx.lineWidth = 1.2;
      ctx.beginPath();
      ctx.moveTo(x, 18);
      ctx.lineTo(x, view.height);
      ctx.stroke();
      ctx.setLineDash([]);
    };
    if (this.run.healed !== null) line(this.run.healed, "heal", [3, 3]);
    for (const one of this.run.sentences) {
      if (one.t === null || one.partition !== view.partitionNumber) continue;
      const x = xOf(view, one.t);
      if (x < kLabels || x > kLabels + view.width) continue;
      ctx.fillStyle = this.color(one.allowed ? "soft" : "invalid");
      ctx.beginPath();
      ctx.moveTo(x - 4, 17); ctx.lineTo(x + 4, 17); ctx.lineTo(x, 24);
      ctx.fill();
    }
  }

  point(event) {
    const area = $("cursor").getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
    const ctx = $("cursor").getContext("2d"), view = this.view, tip = $("tip");
    ctx.clearRect(0, 0, view.width + kLabels + 12, view.height);
    const index = this.boxes.findIndex((box) => y >= box.top && y < box.top + box.height);
    const inside = index >= 0 && x >= kLabels && x <= kLabels + view.width;
    const text = index < 0 ? "" : inside || index > 0 ? this.lanes[index].tip(view, Math.round(tickOf(view, Math.max(x, kLabels))), x, y, this.boxes[index]) : "";
    if (inside) {
      ctx.fillStyle = this.color("soft");
      ctx.fillRect(Math.round(x), 18, 1, view.height);
    }
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    tip.style.left = Math.min(x + 14, view.width + kLabels - tip.offsetWidth - 4) + "px";
    tip.style.top = Math.max(0, Math.min(y + 14, view.height - tip.offsetHeight - 4)) + "px";
  }

  listen() {
    const canvas = $("cursor");
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (sideways) {
        const by = event.deltaX / this.view.width * (this.view.to - this.view.from);
        this.show(this.view.from + by, this.view.to + by);
      } else {
        this.zoom(Math.exp(event.deltaY / 500), event.clientX - canvas.getBoundingClientRect().left);
      }
    }, { passive: false });
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, from: this.view.from, to: this.view.to };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held) {
        const by = (held.x - event.clientX) / this.view.width * (held.to - held.from);
        this.show(held.from + by, held.to + by);
      }
      this.point(event);
    });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointerleave", () => {
      $("tip").hidden = true;
      canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    });
    canvas.addEventListener("dblclick", () => this.show(...this.home));
    window.addEventListener("resize", () => this.resize());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.colors.clear(); this.draw(); });
    window.addEventListener("keydown", (event) => {
      const span = this.view.to - this.view.from;
      const move = { "+": [0.25, -0.25], "-": [-0.5, 0.5], ArrowLeft: [-0.2, -0.2], ArrowRight: [0.2, 0.2] }[event.key];
      if (event.target.tagName === "SELECT") return;
      if (event.key === "0") this.show(...this.home);
      if (move) this.show(this.view.from + move[0] * span, this.view.to + move[1] * span);
    });
  }
}

function fillHead(run) {
  $("verdict").textContent = run.verdict;
  $("verdict").className = run.verdict;
  $("name").textContent = `${run.scenario} · ${run.sut} · seed ${run.seed}${run.bugs ? " · bug " + run.bugs : ""}`;
  $("headline").textContent = run.headline;
  $("scenario-title").textContent = run.title;
  $("reproduce").textContent = run.reproduce;
  $("copy").addEventListener("click", () => {
    const range = document.createRange();
    range.selectNodeContents($("reproduce"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (navigator.clipboard) navigator.clipboard.writeText(run.reproduce).then(() => { $("copy").textContent = "copied"; }, () => {});
  });
  const fact = (text, value) => {
    if (value === undefined || value === null) return;
    const one = make("div", text + " ");
    one.append(make("b", String(value)));
    $("facts").append(one);
  };
  fact("appends acknowledged", run.totals.ok);
  fact("refused", run.totals.fail);
  fact("unknown outcome", run.totals.info);
  fact("reads", run.totals.reads);
  if (run.measures.unavailable_ms !== undefined) fact("longest time without an acknowledgement", (run.measures.unavailable_ms / 1000).toFixed(1) + " s");
  if (run.measures.recovery_ms !== undefined) fact("ISR whole after heal", (run.measures.recovery_ms / 1000).toFixed(2) + " s");
  fact("length", run.seconds(run.end).toFixed(1) + " s");
}

function fillStory(run, stage) {
  const story = $("story");
  const section = (text) => story.append(make("h2", text));
  if (run.reasons.length) section("What this run could not prove");
  for (const [name, detail] of run.reasons) {
    const row = make("div", undefined, "sentence allowed");
    row.append(make("span", name, "kind"), make("span", detail, "what"));
    story.append(row);
  }
  if (run.sentences.length) section("What was seen");
  const shown = {};
  for (const one of run.sentences) {
    shown[one.kind] = (shown[one.kind] ?? 0) + 1;
    if (shown[one.kind] === kSentences + 1) story.append(rest(run, stage, one.kind));
    if (shown[one.kind] > kSentences) continue;
    story.append(sentence(run, stage, one));
  }
  if (run.findings.length) section("What was measured");
  for (const text of run.findings) story.append(make("div", text, "sentence"));
}

// The other sentences of a kind, which are much like the first ones.
function rest(run, stage, kind) {
  const others = run.sentences.filter((one) => one.kind === kind).slice(kSentences);
  const box = make("details"), all = run.counts[kind] ?? 0;
  box.append(make("summary", `${others.length} more sentences about ${kind}` +
    (all > others.length + kSentences ? `, of ${all} that were counted` : "")));
  for (const one of others) box.append(sentence(run, stage, one));
  return box;
}

function sentence(run, stage, one) {
  const row = make("div", undefined, one.allowed ? "sentence allowed" : "sentence"), kind = make("span", one.kind, "kind");
  if (one.allowed) kind.append(make("small", "allowed here"));
  const what = make("span", one.sentence, "what");
  row.append(kind, what);
  if (one.context.length && one === run.sentences[0]) what.append(make("pre", one.context.join("\n")));
  if (one.t !== null) {
    const go = make("button", secondsText(run, one.t));
    go.type = "button";
    go.addEventListener("click", () => jumpTo(run, stage, one));
    row.append(go);
  }
  return row;
}

function jumpTo(run, stage, one) {
  if (one.partition !== stage.view.partitionNumber) { stage.choose(one.partition); $("partition").value = String(one.partition); }
  const around = 0.5e6 / run.tick_us;
  stage.show(one.t - around, one.t + around);
  $("tools").scrollIntoView({ behavior: "smooth" });
}

function fillTables(run) {
  const table = (title, entries, bad) => {
    if (!entries.length) return;
    const box = make("div"), rows = make("table");
    box.append(make("h2", title), rows);
    for (const [name, value] of entries) {
      const row = make("tr");
      row.append(make("td", name, bad && bad.includes(name) ? "bad" : ""), make("td", String(value), bad && bad.includes(name) ? "bad" : ""));
      rows.append(row);
    }
    $("tables").append(box);
  };
  table("Anomalies (red: violations)", Object.entries(run.counts).filter(([, count]) => count > 0), run.violations);
  table("Evidence", Object.entries(run.evidence));
  table("Configuration", Object.entries(run.config));
  table("Not checked here", run.unchecked);
  table("Warnings", run.warnings.map((text) => [text, ""]));
}

function fillLegend(run, stage) {
  const entry = (color, text, dash) => {
    const one = make("span"), mark = make("i", "", dash ? "dash" : "");
    mark.style[dash ? "borderColor" : "background"] = `var(--${color})`;
    one.append(mark, text);
    $("legend").append(one);
  };
  run.brokers.forEach((broker, i) => entry("b" + i % 6, `broker ${broker}`));
  entry("soft", "LEO solid, HW dashed", true);
  entry("ok", "append ok");
  entry("fail", "append refused");
  entry("info", "outcome unknown");
  entry("read", "read");
  entry("fault", "fault in force");
  entry("down", "process not running");
  entry("heal", "heal", true);
  if (run.sentences.some((one) => one.t !== null)) entry("invalid", "▾ an anomaly");
  stage.resize();
}

function fillTools(run, stage) {
  const first = run.sentences.find((one) => !one.allowed && one.t !== null) ?? run.sentences.find((one) => one.t !== null);
  $("jump").hidden = !first;
  if (first) {
    $("jump").textContent = first.allowed ? "to the first anomaly" : "to the first violation";
    $("jump").addEventListener("click", () => jumpTo(run, stage, first));
  }
  $("in").addEventListener("click", () => stage.zoom(0.5));
  $("out").addEventListener("click", () => stage.zoom(2));
  $("all").addEventListener("click", () => stage.show(...stage.home));
  $("partition-label").hidden = run.partitions.length < 2;
  for (const one of run.partitions) $("partition").append(new Option(String(one.partition)));
  $("partition").addEventListener("change", () => { stage.choose(Number($("partition").value)); stage.draw(); });
  if (first && first.partition !== stage.view.partitionNumber) {
    stage.choose(first.partition);
    $("partition").value = String(first.partition);
  }
}

async function openPage() {
  const run = await loadRun();
  fillHead(run);
  const stage = new Stage(run);
  fillTools(run, stage);
  fillStory(run, stage);
  fillTables(run);
  fillLegend(run, stage);
  // report.html#4.2-4.8 opens that stretch of time.
  const asked = /^#([\d.]+)-([\d.]+)$/.exec(location.hash);
  if (asked) stage.show(Number(asked[1]) * 1e6 / run.tick_us, Number(asked[2]) * 1e6 / run.tick_us);
  const facts = document.documentElement.dataset;
  for (const [name, count] of Object.entries(run.totals)) facts[name] = String(count);
  facts.faults = String(run.faults.length);
  facts.verdict = run.verdict;
  facts.ready = "yes";
}

window.addEventListener("error", (event) => { document.documentElement.dataset.error = event.message; });
openPage().catch((error) => {
  document.documentElement.dataset.error = String(error);
  document.body.prepend(make("pre", "This page could not be drawn: " + error));
  throw error;
});
