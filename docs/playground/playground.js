// The playground page: two experiments, sliders, one run of the simulator for each setting, two figures. `engine.js` (made by `make site`) holds the
// simulator, a WebAssembly program that takes words KEY=VALUE and prints JSON; each run is a fresh instance of it.
"use strict";
(() => {
  // Each experiment: its schemes and PAUSE modes, the slider whose value is a line in the queue's figure, and its sliders: name in a
  // link and for the engine, label, positions, and how a position is told.
  const round = (v) => Number(v.toPrecision(2));
  const kb = (v) => (v < 1000 ? `${v} KB` : `${v / 1000} MB`);
  const us = (v) => (v < 1000 ? `${v} us` : `${v / 1000} ms`);
  const FLOWS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16];
  const SCENES = {
    bottleneck: {
      title: "QCN at 10 Gb/s", schemes: ["qcn-2pt", "qcn-802.1Qau"], pauses: ["off"], level: "q_eq",
      knobs: [
        { key: "w", label: "Weight W", values: [0, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16], start: 2, text: (v) => `${v}` },
        { key: "gd", label: "Gain G_d", values: [1024, 512, 256, 128, 64, 32, 16].map((n) => 1 / n), start: 1 / 128, text: (v) => `1/${Math.round(1 / v)}`, send: (v) => `${v}` },
        { key: "q_eq", label: "Set point Q_eq", values: [6, 9, 13, 18, 26, 36, 52, 75, 105, 150, 210, 300], start: 26, text: kb },
        { key: "flows", label: "Flows", values: FLOWS, start: 4, text: (v) => `${v}` },
        { key: "loop_delay", label: "Loop delay", values: [5, 10, 20, 35, 60, 100, 160, 250, 400, 650, 1000, 2000], start: 10, text: us },
      ],
      facts: [["throughput", "throughput", "Gb/s", 4], ["fairness", "fairness (Jain)", "", 3]],
    },
    incast: {
      title: "Incast at 100 Gb/s: PAUSE and DCQCN", schemes: ["dcqcn", "none"], pauses: ["on", "off"], level: "k_min",
      knobs: [
        { key: "flows", label: "Senders", values: FLOWS, start: 8, text: (v) => `${v}` },
        { key: "size", label: "Size of each transfer", values: [100, 200, 300, 500, 700, 1000, 1500], start: 1000, text: kb },
        { key: "k_min", label: "ECN marks from K_min", values: [10, 20, 30, 60, 100, 150, 200, 240], start: 60, text: kb },
        { key: "link_delay", label: "Delay of each link", values: [0.1, 0.2, 0.5, 1, 2, 5], start: 0.5, text: us },
      ],
      facts: [["incast", "slowest of the incast", "us", 4], ["victim", "victim H1>H17", "us", 4], ["paused", "time in XOFF, senders", "%", 3], ["finished", "transfers received whole", "%", 3]],
    },
  };
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

  const state = {};
  const scene = () => SCENES[state.scene];
  function fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const choice = (key, known) => { state[key] = known.includes(given.get(key)) ? given.get(key) : known[0]; };
    choice("scene", Object.keys(SCENES));
    choice("scheme", scene().schemes);
    choice("pause", scene().pauses);
    for (const k of scene().knobs) {
      const v = Number.parseFloat(given.get(k.key) ?? k.start);
      state[k.key] = near(k.values, Number.isFinite(v) ? v : k.start);
    }
  }
  const value = (k) => k.values[state[k.key]];
  const words = () => ["scene", "scheme", "pause"].map((k) => `${k}=${state[k]}`).concat(scene().knobs.map((k) => `${k.key}=${(k.send ?? k.text)(value(k))}`));
  function address() {
    const all = new URLSearchParams({ scene: state.scene, scheme: state.scheme, pause: state.pause });
    for (const k of scene().knobs) all.set(k.key, round(value(k) * 1e6) / 1e6);
    return `#${all}`;
  }

  // ---- the figures

  // A figure over time, by the report's drawer: as wide as the page, so text keeps its size on a phone.
  function figure(id, title, unit, curves, end, level) {
    const { length } = curves[0].values, x = Array.from({ length }, (_, i) => ((i + 1) * end) / length);
    const most = Math.max(...curves.flatMap((c) => c.values));
    const f = {
      kind: "lines", categories: [], windows: [], levels: level ? [level] : [],
      x: { title: "time", unit: "ms", log: false }, y: { title, unit, log: false },
      traces: curves.map(({ name, slot, dash, values }) => ({ name, slot, dash, data: { x, y: values } })),
    };
    const alt = `${title} over ${end} ms, at most ${round(most)} ${unit}`;
    return cnsimChart.draw(f, { id, alt, width: Math.max(300, Math.round(root.clientWidth || 720)) }).svg;
  }

  let last = null;
  function draw(run, took) {
    last = [run, took];
    const end = Number((run.bin * run.queue.length).toPrecision(6));
    const knob = scene().knobs.find((k) => k.key === scene().level);
    const level = run.set_point === null ? null : { value: value(knob), label: knob.label.split(" ").at(-1) };
    const others = scene().facts.some(([key]) => key === "victim") ? 1 : 0;
    const n = run.rates.length - others;
    const rates = run.rates.map((values, i) => (i < n
      ? { name: run.flows[i], slot: 8 + (i % 8), dash: Math.floor(i / 8), values }
      : { name: "the victim", slot: 0, dash: 0, values }));
    const show = (v, digits = 3) => (v === null || v === undefined ? "–" : String(Number(v.toPrecision(digits))));
    root.querySelector(".figures").innerHTML =
      figure("q", "queue before the port", "KB", [{ name: "queue", slot: 1, dash: 0, values: run.queue }], end, level) +
      figure("r", others ? "rate of each flow; thick: the victim" : "rate of each flow", "Gb/s", rates, end);
    root.querySelector(".facts").innerHTML = [
      ["mean queue", `${show(run.mean_queue)} KB`],
      ["largest queue", `${show(run.largest_queue)} KB`],
      ...scene().facts.map(([key, name, unit, digits]) => [name, `${show(run[key], digits)} ${unit}`]),
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
  const select = (key, label, all) => `<label for="pg-${key}">${label}<select id="pg-${key}" name="${key}">${all.map(([v, text]) => `<option value="${v}">${text}</option>`).join("")}</select></label>`;
  // The controls of the present experiment, and their positions.
  function show() {
    const form = root.querySelector("form");
    if (form.dataset.scene !== state.scene) {
      form.dataset.scene = state.scene;
      const same = (list) => list.map((v) => [v, v]);
      const knob = (k) => `<label for="pg-${k.key}">${k.label}<output for="pg-${k.key}"></output>
        <input type="range" id="pg-${k.key}" name="${k.key}" min="0" max="${k.values.length - 1}" step="1"></label>`;
      form.innerHTML = select("scene", "Experiment", Object.entries(SCENES).map(([k, s]) => [k, s.title])) + select("scheme", "Scheme", same(scene().schemes)) +
        (scene().pauses.length > 1 ? select("pause", "PAUSE", same(scene().pauses)) : "") + scene().knobs.map(knob).join("");
    }
    for (const box of form.querySelectorAll("select")) box.value = state[box.name];
    for (const k of scene().knobs) {
      const input = root.querySelector(`[name=${k.key}]`);
      input.value = state[k.key];
      input.setAttribute("aria-valuetext", k.text(value(k)));
      root.querySelector(`output[for=pg-${k.key}]`).textContent = k.text(value(k));
    }
  }
  function build() {
    root.innerHTML = `<form></form><p class="wrong" role="alert"></p><div class="figures"></div>
      <p class="facts" aria-live="polite"></p><p><button type="button">Copy a link to this setting</button> <small class="took"></small></p>
      <pre tabindex="0"></pre>`;
    const form = root.querySelector("form");
    form.addEventListener("submit", (e) => e.preventDefault());
    form.addEventListener("input", (e) => {
      const chosen = e.target.tagName === "SELECT";
      state[e.target.name] = chosen ? e.target.value : Number(e.target.value);
      // Another experiment begins with its own settings.
      if (e.target.name === "scene") {
        history.replaceState(null, "", `#scene=${state.scene}`);
        fromAddress();
      }
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
    let wide = 0;
    new ResizeObserver(() => {
      if (last && root.clientWidth !== wide) draw(...last);
      wide = root.clientWidth;
    }).observe(root);
    fromAddress();
    show();
    run();
  }
  build();
})();
