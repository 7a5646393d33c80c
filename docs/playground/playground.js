// The playground page: sliders, one run of the simulator for each setting, two figures. `engine.js` (made by `make site`) holds the
// simulator, a WebAssembly program that takes words KEY=VALUE and prints JSON; each run is a fresh instance of it.
"use strict";
(() => {
  // Each slider: name in a link and for the engine, label, its positions, and how a position is told.
  const round = (v) => Number(v.toPrecision(2));
  const KNOBS = [
    { key: "w", label: "Weight W", values: [0, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16], start: 2, text: (v) => `${v}` },
    { key: "gd", label: "Gain G_d", values: [1024, 512, 256, 128, 64, 32, 16].map((n) => 1 / n), start: 1 / 128, text: (v) => `1/${Math.round(1 / v)}`, send: (v) => `${v}` },
    { key: "q_eq", label: "Set point Q_eq", values: [6, 9, 13, 18, 26, 36, 52, 75, 105, 150, 210, 300], start: 26, text: (v) => `${v} KB` },
    { key: "flows", label: "Flows", values: [1, 2, 3, 4, 5, 6, 8, 10, 12, 16], start: 4, text: (v) => `${v}` },
    { key: "loop_delay", label: "Loop delay", values: [5, 10, 20, 35, 60, 100, 160, 250, 400, 650, 1000, 2000], start: 10, text: (v) => (v < 1000 ? `${v} us` : `${v / 1000} ms`) },
  ];
  const SCHEMES = ["qcn-2pt", "qcn-802.1Qau"];
  const root = document.getElementById("cnsim-playground");
  const near = (values, v) => values.reduce((best, x, i) => (Math.abs(x - v) < Math.abs(values[best] - v) ? i : best), 0);

  // ---- the engine: just enough of WASI for a program that reads its words and prints

  const module = typeof CNSIM_ENGINE === "string"
    ? WebAssembly.compile(Uint8Array.from(atob(CNSIM_ENGINE), (c) => c.charCodeAt(0)))
    : Promise.reject(new Error("This copy of the site was built without the simulator (target wasm32-wasip1)."));
  module.catch(() => {});

  async function engine(words) {
    const compiled = await module;
    const args = ["playground", ...words].map((w) => new TextEncoder().encode(`${w}\0`));
    const said = { 1: [], 2: [] };
    let memory;
    const view = () => new DataView(memory.buffer);
    const known = {
      args_sizes_get(count, size) {
        view().setUint32(count, args.length, true);
        view().setUint32(size, args.reduce((sum, a) => sum + a.length, 0), true);
        return 0;
      },
      args_get(list, text) {
        for (const arg of args) {
          view().setUint32(list, text, true);
          new Uint8Array(memory.buffer).set(arg, text);
          list += 4;
          text += arg.length;
        }
        return 0;
      },
      environ_sizes_get(count, size) {
        view().setUint32(count, 0, true);
        view().setUint32(size, 0, true);
        return 0;
      },
      fd_write(fd, list, count, written) {
        let sum = 0;
        for (let i = 0; i < count; i++) {
          const [at, length] = [view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true)];
          said[fd]?.push(new Uint8Array(memory.buffer).slice(at, at + length));
          sum += length;
        }
        view().setUint32(written, sum, true);
        return 0;
      },
      proc_exit(code) {
        throw { exit: code };
      },
    };
    // Nothing else is there, and nothing else may decide what comes out: clocks stand still, random numbers are zero.
    const quiet = { environ_get: 0, random_get: 0, clock_time_get: 0, sched_yield: 0 };
    const imports = {};
    for (const { module: space, name } of WebAssembly.Module.imports(compiled)) {
      (imports[space] ??= {})[name] = known[name] ?? (() => quiet[name] ?? 8);
    }
    const { exports } = await WebAssembly.instantiate(compiled, imports);
    memory = exports.memory;
    let code = 0;
    try {
      exports._start();
    } catch (end) {
      if (end.exit === undefined) throw end;
      code = end.exit;
    }
    const text = async (fd) => new Blob(said[fd]).text();
    if (code !== 0) throw new Error(await text(2));
    return JSON.parse(await text(1));
  }

  // ---- the settings: from the address, to the address, as words

  const state = { scheme: SCHEMES[0] };
  function fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    state.scheme = SCHEMES.includes(given.get("scheme")) ? given.get("scheme") : SCHEMES[0];
    for (const k of KNOBS) {
      const v = Number.parseFloat(given.get(k.key) ?? k.start);
      state[k.key] = near(k.values, Number.isFinite(v) ? v : k.start);
    }
  }
  const value = (k) => k.values[state[k.key]];
  const words = () => [`scheme=${state.scheme}`, ...KNOBS.map((k) => `${k.key}=${(k.send ?? k.text)(value(k))}`)];
  function address() {
    const all = new URLSearchParams({ scheme: state.scheme });
    for (const k of KNOBS) all.set(k.key, round(value(k) * 1e6) / 1e6);
    return `#${all}`;
  }

  // ---- the figures

  const W = 720, H = 220, LEFT = 52, BOTTOM = 30, TOP = 22;
  const nice = (max) => {
    const p = 10 ** Math.floor(Math.log10(max || 1));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((m) => m * p).find((m) => m >= max) ?? 10 * p;
  };
  // What all but the largest hundredth stay below: a first burst shall not press the rest flat.
  const usual = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)];
  function figure(title, unit, curves, end, most, level) {
    const top = nice(most);
    const x = (t) => LEFT + (t / end) * (W - LEFT - 12);
    const y = (v) => H - BOTTOM - (v / top) * (H - BOTTOM - TOP);
    const clip = `pg-${curves[0].kind}`;
    let out = `<clipPath id="${clip}"><rect x="${LEFT}" y="${TOP - 1}" width="${W - LEFT}" height="${H - BOTTOM - TOP + 2}"/></clipPath><text x="0" y="12" font-weight="bold">${title} [${unit}]</text>`;
    for (let i = 0; i <= 4; i++) {
      const v = (top * i) / 4;
      out += `<line class="grid" x1="${LEFT}" x2="${W - 12}" y1="${y(v)}" y2="${y(v)}"/><text x="${LEFT - 6}" y="${y(v) + 4}" text-anchor="end">${round(v)}</text>`;
    }
    for (let i = 0; i <= 5; i++) {
      out += `<text x="${x((end * i) / 5)}" y="${H - 12}" text-anchor="middle">${round((end * i) / 5)}${i === 5 ? " ms" : ""}</text>`;
    }
    for (const c of curves) {
      const d = c.values.map((v, i) => `${i ? "L" : "M"}${x(((i + 1) * end) / c.values.length).toFixed(1)} ${y(v).toFixed(1)}`).join("");
      out += `<path class="${c.kind}" clip-path="url(#${clip})" d="${d}"${c.colour ? ` stroke="${c.colour}"` : ""}/>`;
    }
    if (level) out += `<line class="level" x1="${LEFT}" x2="${W - 12}" y1="${y(level)}" y2="${y(level)}"><title>set point</title></line>`;
    return `<svg viewBox="0 0 ${W} ${H}" role="img" aria-label="${title} over ${end} ms, mostly below ${round(most)} ${unit}">${out}</svg>`;
  }

  function draw(run, took) {
    const end = run.bin * run.queue.length;
    const level = value(KNOBS.find((k) => k.key === "q_eq"));
    const hues = run.rates.map((_, i) => `hsl(${Math.round((360 * i) / run.rates.length + 220) % 360} 60% 52%)`);
    const rates = run.rates.map((values, i) => ({ kind: "rate", values, colour: hues[i] }));
    const show = (v, digits = 3) => (v === null || v === undefined ? "–" : String(Number(v.toPrecision(digits))));
    root.querySelector(".figures").innerHTML =
      figure("Queue before the port", "KB", [{ kind: "queue", values: run.queue }], end, 1.1 * Math.max(usual(run.queue), 2 * level), level) +
      figure("Rate of each flow", "Gb/s", rates, end, Math.min(10, Math.max(usual(run.rates.flat()), 0.1)));
    root.querySelector(".facts").innerHTML = [
      ["mean queue", `${show(run.mean_queue)} KB`],
      ["largest queue", `${show(run.largest_queue)} KB`],
      ["throughput", `${show(run.throughput, 4)} Gb/s`],
      ["fairness (Jain)", show(run.fairness)],
      ["messages", show(run.messages, 6)],
      ["dropped frames", show(run.dropped_frames, 6)],
    ].map(([name, text]) => `<span>${name} <b>${text}</b></span>`).join("");
    const { events, frames, samples } = run.fingerprint;
    const code = root.querySelector("pre");
    code.textContent = `${run.command}\nfingerprint ${events} ${frames} ${samples}`;
    code.dataset.fingerprint = `${events} ${frames} ${samples}`;
    root.dataset.took = took.toFixed(1);
    root.querySelector(".took").textContent = `${run.packet_hops.toLocaleString("en")} packet-hops in ${Math.round(took)} ms`;
  }

  // ---- the page

  let asked = 0, busy = false;
  async function run() {
    asked++;
    if (busy) return;
    busy = true;
    for (let turn = 0; turn !== asked; ) {
      turn = asked;
      const start = performance.now();
      const wrong = root.querySelector(".wrong");
      try {
        const answer = await engine(words());
        draw(answer, performance.now() - start);
        wrong.textContent = "";
      } catch (error) {
        wrong.textContent = error.message ?? String(error);
      }
      root.dataset.turn = turn;
      // Let the browser paint before the next run.
      await new Promise((done) => setTimeout(done));
    }
    busy = false;
  }
  function show() {
    root.querySelector("select").value = state.scheme;
    for (const k of KNOBS) {
      const input = root.querySelector(`[name=${k.key}]`);
      input.value = state[k.key];
      input.setAttribute("aria-valuetext", k.text(value(k)));
      root.querySelector(`output[for=pg-${k.key}]`).textContent = k.text(value(k));
    }
  }
  function build() {
    const knob = (k) => `<label for="pg-${k.key}">${k.label}<output for="pg-${k.key}"></output>
      <input type="range" id="pg-${k.key}" name="${k.key}" min="0" max="${k.values.length - 1}" step="1"></label>`;
    root.innerHTML = `<form><label for="pg-scheme">Scheme<select id="pg-scheme">${SCHEMES.map((s) => `<option>${s}</option>`).join("")}</select></label>
      ${KNOBS.map(knob).join("")}</form><p class="wrong" role="alert"></p><div class="figures"></div>
      <p class="facts" aria-live="polite"></p><p><button type="button">Copy a link to this setting</button> <small class="took"></small></p>
      <pre tabindex="0"></pre>`;
    const form = root.querySelector("form");
    form.addEventListener("submit", (e) => e.preventDefault());
    form.addEventListener("input", (e) => {
      if (e.target.name) state[e.target.name] = Number(e.target.value);
      else state.scheme = e.target.value;
      history.replaceState(null, "", address());
      show();
      run();
    });
    const button = root.querySelector("button");
    button.addEventListener("click", async () => {
      history.replaceState(null, "", address());
      try {
        await navigator.clipboard.writeText(location.href);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Copy it from the address bar";
      }
      setTimeout(() => (button.textContent = "Copy a link to this setting"), 2000);
    });
    addEventListener("hashchange", () => {
      fromAddress();
      show();
      run();
    });
    fromAddress();
    show();
    run();
  }
  build();
})();
