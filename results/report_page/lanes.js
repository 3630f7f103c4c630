// The lanes of the time axis. Each lane draws itself into a box and says what is under the pointer.
// A view has: run, partition (its timeline), partitionNumber, from and to (ticks), left and width (pixels), color(name).

const xOf = (view, tick) => view.left + (tick - view.from) / (view.to - view.from) * view.width;
const tickOf = (view, x) => view.from + (x - view.left) / view.width * (view.to - view.from);
const brokerColor = (view, broker) => {
  const index = view.run.brokers.indexOf(broker);
  return view.color("b" + (index < 0 ? 5 : index % 6));
};

// "1-2-5" steps that give at most `most` of them over a span.
function niceStep(span, most) {
  const raw = span / most, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw);
}

function fitText(ctx, text, x, y, width) {
  if (width < 14) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y - 20, width, 40);
  ctx.clip();
  ctx.fillText(text, x + 5, y);
  ctx.restore();
}

function band(ctx, view, from, to, top, height) {
  const left = Math.max(xOf(view, from), view.left), right = Math.min(xOf(view, to), view.left + view.width);
  if (right < view.left || left > view.left + view.width) return null;
  ctx.fillRect(left, top, Math.max(right - left, 2), height);
  return [left, right - left];
}

function axisLane(run) {
  return {
    name: "", height: 24,
    draw(ctx, view, box) {
      const span = run.seconds(view.to - view.from), step = niceStep(span, Math.max(view.width / 110, 2));
      const digits = Math.max(0, -Math.floor(Math.log10(step)));
      ctx.textAlign = "center";
      for (let s = Math.ceil(run.seconds(view.from) / step) * step; s <= run.seconds(view.to); s += step) {
        const x = xOf(view, s * 1e6 / run.tick_us);
        ctx.fillStyle = view.color("grid");
        ctx.fillRect(Math.round(x), box.top + 18, 1, view.height);
        ctx.fillStyle = view.color("soft");
        ctx.fillText(s.toFixed(digits) + " s", x, box.top + 9);
      }
      ctx.textAlign = "left";
    },
    tip: () => "",
  };
}

function faultLane(run, fault) {
  const until = fault.end ?? (fault.completed !== null && fault.completed > fault.effective ? fault.completed : null);
  return {
    name: fault.id, height: 20,
    draw(ctx, view, box) {
      const middle = box.top + box.height / 2, momentary = fault.end === null;
      if (!fault.ok) {
        ctx.fillStyle = view.color("soft");
        fitText(ctx, "✕ " + fault.kind + " failed", xOf(view, fault.requested), middle, 200);
        return;
      }
      ctx.fillStyle = view.color(momentary ? "heal" : "fault");
      ctx.globalAlpha = momentary ? 0.16 : 0.32;
      if (until !== null) band(ctx, view, fault.effective, until, box.top + 3, box.height - 6);
      ctx.globalAlpha = 1;
      const x = xOf(view, fault.effective);
      ctx.fillRect(x, box.top + 2, 2.5, box.height - 4);
      if (fault.completed !== null) ctx.fillRect(xOf(view, fault.completed) - 1, box.top + 7, 2, box.height - 14);
      if (!momentary) ctx.fillRect(xOf(view, fault.end) - 1, box.top + 2, 1.5, box.height - 4);
      ctx.fillStyle = view.color("ink");
      fitText(ctx, `${fault.kind} ${fault.struck}`, Math.max(x, view.left) + 2, middle, 260);
    },
    tip() {
      const lines = [`${fault.id}: ${fault.kind} of ${fault.asked}, struck ${fault.struck || "nobody"}`,
        `asked for at ${secondsText(run, fault.requested)}`,
        fault.ok ? `proven in effect at ${secondsText(run, fault.effective)}` : "it FAILED"];
      if (fault.completed !== null) lines.push(`its condition was met at ${secondsText(run, fault.completed)}`);
      if (fault.end !== null) lines.push(`over at ${secondsText(run, fault.end)}`);
      if (fault.detail) lines.push(fault.detail);
      return lines.join("\n");
    },
  };
}

function changeText(run, change) {
  return `${change.leader < 0 ? "nobody leads" : `broker ${change.leader} leads`} in epoch ${change.epoch}, ISR {${change.isr}}\n` +
    `since ${secondsText(run, change.t)} (${change.cause}${change.unclean ? ", UNCLEAN election" : ""})`;
}

// Stretches of [change, next change) that the view shows.
function* stretches(view) {
  const changes = view.partition.changes;
  for (let i = 0; i < changes.length; ++i) {
    const end = i + 1 < changes.length ? changes[i + 1].t : view.run.end;
    if (end >= view.from && changes[i].t <= view.to) yield [changes[i], Math.max(changes[i].t, i ? changes[i].t : -1e9), end];
  }
}

// The same, but one stretch as long as the leader and its epoch stay.
function leaderships(view) {
  const found = [];
  for (const [change, from, to] of stretches(view)) {
    const last = found[found.length - 1];
    if (last && last[0].leader === change.leader && last[0].epoch === change.epoch) last[2] = to;
    else found.push([change, from, to]);
  }
  return found;
}

function leaderLane(run) {
  return {
    name: "leader", height: 24,
    draw(ctx, view, box) {
      for (const [change, from, to] of leaderships(view)) {
        ctx.fillStyle = change.leader < 0 ? view.color("fault") : brokerColor(view, change.leader);
        ctx.globalAlpha = change.leader < 0 ? 0.18 : 0.85;
        const place = band(ctx, view, from, to, box.top + 3, box.height - 6);
        ctx.globalAlpha = 1;
        const text = change.leader < 0 ? "no leader" : `${change.leader} · epoch ${change.epoch}`;
        if (place) {
          ctx.fillStyle = change.leader < 0 ? view.color("ink") : view.color("paper");
          fitText(ctx, text, place[0], box.top + box.height / 2, place[1]);
        }
        if (change.unclean) {
          ctx.fillStyle = view.color("invalid");
          ctx.fillRect(xOf(view, change.t) - 1.5, box.top, 3, box.height);
        }
      }
    },
    tip(view, tick) {
      const change = changeAt(view.partition.changes, tick);
      return change ? changeText(run, change) : "";
    },
  };
}

function isrLane(run, broker, first) {
  return {
    name: first ? `ISR   broker ${broker}` : `broker ${broker}`, height: 17,
    draw(ctx, view, box) {
      for (const [change, from, to] of stretches(view)) {
        if (!change.isr.includes(broker)) continue;
        ctx.fillStyle = brokerColor(view, broker);
        ctx.globalAlpha = 0.75;
        band(ctx, view, from, to, box.top + 3, box.height - 6);
        ctx.globalAlpha = 1;
      }
      ctx.fillStyle = view.color("down");
      for (const [process, from, until] of run.down) {
        if (process === broker) band(ctx, view, from, until ?? run.end, box.top + box.height / 2 - 1.5, 3);
      }
    },
    tip(view, tick) {
      const change = changeAt(view.partition.changes, tick);
      const dead = run.down.find(([process, from, until]) => process === broker && from <= tick && tick < (until ?? run.end));
      return (change ? `broker ${broker} is ${change.isr.includes(broker) ? "" : "NOT "}in the ISR\n${changeText(run, change)}` : "") +
        (dead ? `\nits process is not running since ${secondsText(run, dead[1])}` : "");
    },
  };
}

// Draws a step line; many points in one pixel become one stroke from the lowest to the highest.
function strokeSteps(ctx, view, steps, yOf) {
  const first = Math.max(lowerBound(steps.at, view.from) - 1, 0), last = lowerBound(steps.at, view.to);
  if (steps.at.length === 0 || (first === 0 && steps.at[0] > view.to)) return;
  ctx.beginPath();
  let y = yOf(steps.value[first]), pixel = null, low = y, high = y;
  ctx.moveTo(Math.max(xOf(view, steps.at[first]), view.left), y);
  for (let i = first + 1; i <= last && i < steps.at.length; ++i) {
    if (steps.at[i] > view.to) break;
    const x = xOf(view, steps.at[i]), next = yOf(steps.value[i]);
    if (pixel !== null && Math.round(x) === pixel) {
      low = Math.min(low, next);
      high = Math.max(high, next);
      y = next;
      continue;
    }
    if (pixel !== null) { ctx.lineTo(pixel, low); ctx.lineTo(pixel, high); ctx.lineTo(pixel, y); }
    pixel = Math.round(x);
    ctx.lineTo(pixel, y);
    low = Math.min(y, next); high = Math.max(y, next); y = next;
  }
  if (pixel !== null) { ctx.lineTo(pixel, low); ctx.lineTo(pixel, high); ctx.lineTo(pixel, y); }
  ctx.lineTo(Math.min(xOf(view, view.run.end), view.left + view.width), y);
  ctx.stroke();
}

function offsetLane(run) {
  const range = (view) => {
    let low = Infinity, high = -Infinity;
    for (const replica of view.partition.replicas) {
      for (const steps of [replica.leo, replica.hw]) {
        for (const tick of [view.from, view.to]) {
          const value = valueAt(steps, tick);
          if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
        }
        for (let i = lowerBound(steps.at, view.from), end = lowerBound(steps.at, view.to); i < end; ++i) {
          low = Math.min(low, steps.value[i]); high = Math.max(high, steps.value[i]);
        }
      }
    }
    return low > high ? [0, 1] : [low, Math.max(high, low + 1)];
  };
  return {
    name: "LEO and HW", height: 190,
    draw(ctx, view, box) {
      const [low, high] = range(view), pad = 10;
      const yOf = (value) => box.top + box.height - pad - (value - low) / (high - low) * (box.height - 2 * pad);
      verticalScale(ctx, view, box, low, high, yOf, (value) => value.toFixed(0));
      // Equal lines side by side, not one over the other.
      view.partition.replicas.forEach((replica, index) => {
        const beside = (value) => yOf(value) + (index - (view.partition.replicas.length - 1) / 2) * 2;
        ctx.strokeStyle = brokerColor(view, replica.broker);
        ctx.lineWidth = 1.5;
        ctx.setLineDash([]);
        strokeSteps(ctx, view, replica.leo, beside);
        ctx.setLineDash([5, 4]);
        strokeSteps(ctx, view, replica.hw, beside);
      });
      ctx.setLineDash([]);
    },
    tip(view, tick) {
      const lines = view.partition.replicas.map((replica) =>
        `broker ${replica.broker}: LEO ${valueAt(replica.leo, tick) ?? "?"}, HW ${valueAt(replica.hw, tick) ?? "?"}`);
      return `${secondsText(run, tick)}\n${lines.join("\n")}`;
    },
  };
}

function verticalScale(ctx, view, box, low, high, yOf, text) {
  const step = Math.max(niceStep(high - low, 4), 1);
  ctx.textAlign = "right";
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
    ctx.fillStyle = view.color("grid");
    ctx.fillRect(view.left, Math.round(yOf(value)), view.width, 1);
    ctx.fillStyle = view.color("soft");
    ctx.fillText(text(value), view.left - 6, yOf(value));
  }
  ctx.textAlign = "left";
}

const CLASSES = ["ok", "fail", "info", "read"];
const classOf = (what) => what & WHAT.poll ? ((what & WHAT.outcome) === 0 ? 3 : 2) : what & WHAT.outcome;

// Latency of each operation, logarithmic; where they are dense, bins of two pixels with the count as opacity.
function latencyLane(run) {
  const kFloor = 50, kMostDots = 6000;  // microseconds; dots
  let top = 1000;
  for (const latency of run.operations.latency) if (latency > top) top = latency;
  const scale = Math.log(top * 1.3 / kFloor);
  const yOf = (box, latency) => box.top + box.height - 6 - Math.log(Math.max(latency, kFloor) / kFloor) / scale * (box.height - 14);
  const visible = (view) => [lowerBound(run.operations.time, view.from), lowerBound(run.operations.time, view.to + 1)];
  const mine = (view, i) => run.operations.partition[i] === view.partitionNumber;

  function dots(ctx, view, box, first, last) {
    for (const pass of [3, 0, 1, 2]) {
      ctx.fillStyle = view.color(CLASSES[pass]);
      ctx.globalAlpha = pass === 3 ? 0.45 : 0.8;
      for (let i = first; i < last; ++i) {
        if (classOf(run.operations.what[i]) !== pass || !mine(view, i)) continue;
        ctx.fillRect(xOf(view, run.operations.time[i]) - 1.2, yOf(box, run.operations.latency[i]) - 1.2, 2.4, 2.4);
      }
    }
    ctx.globalAlpha = 1;
  }

  function bins(ctx, view, box, first, last) {
    const columns = Math.ceil(view.width / 2) + 1, rows = Math.ceil(box.height / 2) + 1;
    const counts = CLASSES.map(() => new Uint32Array(columns * rows));
    const perTick = view.width / (view.to - view.from) / 2;
    for (let i = first; i < last; ++i) {
      if (!mine(view, i)) continue;
      const column = (run.operations.time[i] - view.from) * perTick | 0;
      const row = (yOf(box, run.operations.latency[i]) - box.top) / 2 | 0;
      ++counts[classOf(run.operations.what[i])][row * columns + column];
    }
    let most = 1;
    for (const pass of counts) for (const count of pass) if (count > most) most = count;
    for (const pass of [3, 0, 1, 2]) {
      ctx.fillStyle = view.color(CLASSES[pass]);
      for (let at = 0; at < counts[pass].length; ++at) {
        if (counts[pass][at] === 0) continue;
        ctx.globalAlpha = 0.25 + 0.75 * Math.log1p(counts[pass][at]) / Math.log1p(most);
        ctx.fillRect(view.left + (at % columns) * 2, box.top + Math.floor(at / columns) * 2, 2, 2);
      }
    }
    ctx.globalAlpha = 1;
  }

  return {
    name: "latency", height: 170,
    draw(ctx, view, box) {
      ctx.textAlign = "right";
      for (const [latency, text] of [[100, "0.1 ms"], [1e3, "1 ms"], [1e4, "10 ms"], [1e5, "100 ms"], [1e6, "1 s"], [1e7, "10 s"]]) {
        if (latency > top * 1.3) break;
        ctx.fillStyle = view.color("grid");
        ctx.fillRect(view.left, Math.round(yOf(box, latency)), view.width, 1);
        ctx.fillStyle = view.color("soft");
        ctx.fillText(text, view.left - 6, yOf(box, latency));
      }
      ctx.textAlign = "left";
      const [first, last] = visible(view);
      view.shown = last - first;
      (last - first > kMostDots ? bins : dots)(ctx, view, box, first, last);
    },
    tip(view, tick, x, y, box) {
      const reach = (view.to - view.from) / view.width * 6;
      let best = -1, nearest = 64;
      const first = lowerBound(run.operations.time, tick - reach), last = lowerBound(run.operations.time, tick + reach);
      for (let i = first; i < Math.min(last, first + 200000); ++i) {
        if (!mine(view, i)) continue;
        const dx = xOf(view, run.operations.time[i]) - x, dy = yOf(box, run.operations.latency[i]) - y;
        if (dx * dx + dy * dy < nearest) { nearest = dx * dx + dy * dy; best = i; }
      }
      return best < 0 ? "" : operationText(run, best);
    },
  };
}

// Appends a second by outcome, stacked.
function rateLane(run) {
  const kBin = 4;  // pixels
  function counted(view) {
    const n = Math.ceil(view.width / kBin), bins = Array.from({ length: n }, () => [0, 0, 0, 0]);
    const first = lowerBound(run.operations.time, view.from), last = lowerBound(run.operations.time, view.to + 1);
    for (let i = first; i < last; ++i) {
      if (run.operations.partition[i] !== view.partitionNumber) continue;
      const at = Math.floor((run.operations.time[i] - view.from) / (view.to - view.from) * view.width / kBin);
      if (at >= 0 && at < n) ++bins[at][classOf(run.operations.what[i])];
    }
    return bins;
  }
  const perSecond = (view) => 1 / (run.seconds(view.to - view.from) / view.width * kBin);
  return {
    name: "appends / s", height: 84,
    draw(ctx, view, box) {
      const bins = counted(view), rate = perSecond(view);
      const most = Math.max(...bins.map(([ok, fail, info]) => ok + fail + info), 1) * rate;
      const yOf = (value) => box.top + box.height - 4 - value / most * (box.height - 12);
      verticalScale(ctx, view, box, 0, most, yOf, (value) => value.toFixed(0));
      bins.forEach((bin, at) => {
        let sum = 0;
        for (let k = 0; k < 3; ++k) {
          if (bin[k] === 0) continue;
          ctx.fillStyle = view.color(CLASSES[k]);
          const from = yOf(sum * rate), to = yOf((sum + bin[k]) * rate);
          ctx.fillRect(view.left + at * kBin, to, kBin - 0.5, from - to);
          sum += bin[k];
        }
      });
    },
    tip(view, tick) {
      const bin = counted(view)[Math.floor((tick - view.from) / (view.to - view.from) * view.width / kBin)];
      return bin ? `${secondsText(run, tick)}: ${bin[0]} ok, ${bin[1]} refused, ${bin[2]} unknown; ${bin[3]} reads\n` +
        `in ${(1000 / perSecond(view)).toFixed(1)} ms` : "";
    },
  };
}

function makeLanes(run) {
  return [axisLane(run), ...run.faults.map((fault) => faultLane(run, fault)), leaderLane(run),
    ...run.brokers.map((broker, i) => isrLane(run, broker, i === 0)), offsetLane(run), latencyLane(run), rateLane(run)];
}
