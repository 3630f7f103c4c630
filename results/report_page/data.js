// What the page knows: the run's facts and its columns. No drawing here.

// Times are ticks of tick_us microseconds since the first operation.
const WHAT = { outcome: 3, poll: 4, acks: 8, final: 32 };
const OUTCOMES = ["ok", "fail", "info"];

async function unpackColumns(text, directory) {
  const bytes = await (await fetch("data:application/octet-stream;base64," + text)).blob();
  const plain = await new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const words = new Int32Array(plain);
  return directory.map(([first, count, delta]) => {
    const column = words.subarray(first, first + count);
    if (delta) for (let i = 1; i < count; ++i) column[i] += column[i - 1];
    return column;
  });
}

async function loadRun() {
  const run = JSON.parse(document.getElementById("run-facts").textContent);
  const columns = await unpackColumns(document.getElementById("run-columns").textContent, run.columns);
  const ops = run.operations;
  for (const name of ["time", "latency", "what", "partition", "offset", "broker", "client", "producer", "number", "error"]) {
    ops[name] = columns[ops[name]];
  }
  for (const partition of run.partitions) {
    for (const replica of partition.replicas) {
      replica.leo = { at: columns[replica.leo[0]], value: columns[replica.leo[1]] };
      replica.hw = { at: columns[replica.hw[0]], value: columns[replica.hw[1]] };
    }
  }
  run.brokers = brokersOf(run);
  // What only traces show has no operation; its sentence says when it was.
  for (const one of run.sentences) {
    const told = one.t === null && /\bat ([\d.]+) s\b/.exec(one.sentence);
    if (told) one.t = Math.round(Number(told[1]) * 1e6 / run.tick_us);
  }
  run.seconds = (tick) => tick * run.tick_us / 1e6;
  run.totals = totalsOf(ops);
  return run;
}

function brokersOf(run) {
  const ids = new Set();
  for (const partition of run.partitions) {
    for (const replica of partition.replicas) ids.add(replica.broker);
    for (const change of partition.changes) for (const id of change.isr) ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}

// Counted from the columns themselves, so that the page can be checked against the history.
function totalsOf(ops) {
  const totals = { ok: 0, fail: 0, info: 0, reads: 0, acked: 0 };
  for (let i = 0; i < ops.count; ++i) {
    const what = ops.what[i];
    if (what & WHAT.poll) {
      ++totals.reads;
    } else {
      ++totals[OUTCOMES[what & WHAT.outcome]];
      if ((what & WHAT.outcome) === 0 && (what >> 3 & 3) === 0) ++totals.acked;
    }
  }
  return totals;
}

// First index whose value is not below `key`, in a sorted column.
function lowerBound(column, key) {
  let low = 0, high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < key) low = middle + 1; else high = middle;
  }
  return low;
}

// The value a step line has at a tick; null before its first point.
function valueAt(steps, tick) {
  const index = lowerBound(steps.at, tick + 1) - 1;
  return index < 0 ? null : steps.value[index];
}

// The leader change in force at a tick.
function changeAt(changes, tick) {
  let found = null;
  for (const change of changes) {
    if (change.t > tick && found) break;
    found = change;
  }
  return found;
}

function secondsText(run, tick) {
  return tick === null ? "never" : run.seconds(tick).toFixed(3) + " s";
}

function operationText(run, i) {
  const ops = run.operations, what = ops.what[i], poll = what & WHAT.poll;
  const outcome = OUTCOMES[what & WHAT.outcome];
  const error = ops.errors[ops.error[i]];
  const head = poll
    ? `${what & WHAT.final ? "final read" : "read"} of ${ops.number[i]} records from offset ${ops.offset[i]}`
    : `append of p${ops.producer[i]}-${ops.number[i]}` + (ops.offset[i] >= 0 ? ` at offset ${ops.offset[i]}` : "");
  const acks = poll ? "" : `, acks=${["all", "0", "1"][what >> 3 & 3]}`;
  return `${head}: ${outcome}${error ? " " + error : ""}\n${ops.clients[ops.client[i]]} at broker ${ops.broker[i]}${acks}, ` +
    `${(ops.latency[i] / 1000).toFixed(2)} ms, ended at ${secondsText(run, ops.time[i])}`;
}
