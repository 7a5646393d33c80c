# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Write a scheme
#
# A congestion point knows by how much its queue is too long. What if it simply says so, and the source cuts its rate in proportion? This
# notebook writes that scheme, looks at it alone, and sets it beside [`qcn-2pt`](../schemes/qcn-2pt.md). What a scheme can do is listed in
# [the chapter on the package](../python.md).

# %%
import cnsim as cn


@cn.scheme("proportional")
class Proportional(cn.Scheme):
    """The excess of the queue over its set point, in thousandths of it, asks the source of a sampled frame for a cut."""

    q_eq = cn.param.bytes("26 KB", low=64, high="10 MB", symbol="Q_eq", doc="Set point of the queue.")
    interval = cn.param.bytes("75 KB", low=64, high="10 MB", doc="Bytes between samples.")
    gain = cn.param.number(0.1, low=0.001, high=0.5, symbol="G", doc="Cut for an excess of one set point.")
    step = cn.param.rate("20 Mb/s", low="1 Mb/s", high="10 Gb/s", doc="Rate won back per period.")
    period = cn.param.time("200 us", low="1 us", high="1 s", doc="Period of recovery.")

    class CongestionPoint(cn.CongestionPoint):
        def start(self, queue):
            queue.sample_after(self.p.interval)

        def on_sample(self, frame, queue):
            excess = queue.len - self.p.q_eq
            if excess > 0:
                queue.notify(frame.flow, cn.Feedback.User(int(1000 * excess / self.p.q_eq), 0))
            queue.sample_after(self.p.interval)

    class ReactionPoint(cn.ReactionPoint):
        def on_feedback(self, feedback, limiter):
            if not isinstance(feedback, cn.Feedback.User):
                return  # not ours
            limiter.engage()
            cut = min(0.5, self.p.gain * feedback.a / 1000)
            limiter.rate = max(limiter.rate * (1 - cut), 10e6)
            limiter.start_timer(0, self.p.period)

        def on_timer(self, timer, limiter):
            limiter.rate = min(limiter.rate + self.p.step, limiter.line_rate)
            if limiter.rate < limiter.line_rate:
                limiter.start_timer(0, self.p.period)
            else:
                limiter.release_when_empty()


# %% [markdown]
# The conformance suite looks at what every scheme owes to the network.

# %%
import cnsim.testing

report = cnsim.testing.check_scheme("proportional")
assert report.ok, report
report

# %% [markdown]
# Four hosts send to one as fast as they may, from the start.

# %%
bottleneck = cn.build(
    "bottleneck",
    topology={"kind": "single-switch", "hosts": 5},
    switch={"share": "2 MB"},
    workload={"kind": "greedy", "destinations": ["H0"]},
    run={"duration": "60 ms"},
    record={"host": "H0", "bin": "0.2 ms", "flows": [f"H{i}>H0" for i in range(1, 5)]},
    pause="off",
    scheme=["qcn-2pt", "proportional"],
)
runs = {name: bottleneck.with_(scheme=name).run(seeds=2, progress=False) for name in ("qcn-2pt", "proportional")}
axes = None
for name, run in runs.items():
    axes = run.queue().plot(axes, label=name)
_ = axes.set_ylim(0, 200), axes.legend()

# %%
for name, run in runs.items():
    print(f"{name:13}", *(f"{m}: {run.metric(m)}" for m in ("throughput", "mean_hot_queue", "fairness", "control_messages")), sep="  ")

# %% [markdown]
# Its parameters are those of any scheme, in sweeps, too:

# %%
grid = cn.sweep(bottleneck, {"scheme.params.gain": [0.05, 0.1, 0.2]}, scheme="proportional", pause="off", seeds=2, progress=False)
axes = grid.plot("mean_hot_queue")
