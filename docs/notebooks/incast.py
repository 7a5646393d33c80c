# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # An incast with and without DCQCN
#
# Eight hosts send 2 MB each to one, at 100 Gb/s, over a fabric of leaves and spines. A ninth host sends elsewhere all the time: the
# bystander. PAUSE alone, or PAUSE with [DCQCN](../schemes/dcqcn.md)?

# %%
import cnsim as cn

senders = ["H1", "H2", "H8", "H9", "H16", "H17", "H24", "H25"]
incast = cn.build(
    "incast",
    topology={"kind": "leaf-spine", "per_switch": 8, "link_rate": "100 Gb/s"},
    switch={"share": "300 KB"},
    traffic=[
        {"hosts": senders, "kind": "transfers", "transfers": [f"100 us, {host}, H0, 2 MB" for host in senders]},
        {"hosts": ["H10"], "kind": "greedy", "destinations": ["H5"]},
    ],
    run={"duration": "6 ms"},
    record={"host": "H0", "bin": "20 us", "flows": ["H10>H5"]},
    scheme=["none", "dcqcn"],
)

# %% [markdown]
# DCQCN twice: with the settings of the paper of 2015, made for 40 Gb/s, and with thresholds and steps for this link.

# %%
scaled = {
    "scheme.params.k_min": "100 KB", "scheme.params.k_max": "400 KB", "scheme.params.p_max": 0.2,
    "scheme.params.cnp_interval": "4 us", "scheme.params.cut_period": "4 us", "scheme.params.alpha_period": "5 us",
    "scheme.params.time_reset": "20 us", "scheme.params.ai_rate": "1 Gb/s", "scheme.params.hai_rate": "5 Gb/s",
}
runs = {
    "PAUSE alone": incast.with_(scheme="none").run(seeds=2, progress=False),
    "DCQCN of 2015": incast.with_(scheme="dcqcn").run(seeds=2, progress=False),
    "DCQCN, scaled": incast.with_(scaled, scheme="dcqcn").run(seeds=2, progress=False),
}
for name, run in runs.items():
    print(f"{name:14}", *(f"{m}: {run.metric(m)}" for m in ("completion_time", "queue_max", "time_paused")), sep="  ")

# %% [markdown]
# Under PAUSE alone the incast is over soonest: the port to H0 never idles. The queue tells what that costs.

# %%
axes = None
for name, run in runs.items():
    axes = run.queue().plot(axes, label=name, linestyle="--" if "2015" in name else "-")
axes.legend()

# %% [markdown]
# The queue of H0 fills its switch, the switch stops the spines, and the spines stop everyone behind them: also the bystander, that
# never sends to H0.

# %%
axes = None
for name, run in runs.items():
    axes = run.series("flow H10>H5").plot(axes, label=name, linestyle="--" if "2015" in name else "-")
axes.legend()

# %% [markdown]
# What the bystander sent in these 6 ms, as a share of its link:

# %%
share = {name: run.series("flow H10>H5").values.mean() / 1e5 for name, run in runs.items()}
for name, part in share.items():
    print(f"{name:14} {100 * part:.0f} %")

# %% [markdown]
# DCQCN empties the queue, but its marks meet frames of the bystander, too. How soon it is forgotten is a matter of the increase: in steps
# of 40 Mb/s a link of 100 Gb/s is not won back within 6 ms.

# %%
assert share["DCQCN of 2015"] < share["DCQCN, scaled"]
