# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     name: python3
#     display_name: Python 3
# ---

# %% [markdown]
# # K_min, K_max and P_max of DCQCN at a 100 Gb/s incast
#
# Fifteen hosts send 1 MB each to one over 100 Gb/s links, at once. Where should a switch begin to mark, where should it mark all, and how
# steep should the ramp be? Low thresholds keep the queue short and PAUSE away, high ones keep the link busy: two aims.

# %%
import os

import cnsim as cn

trials = int(os.environ.get("CNSIM_TRIALS", "60"))
incast = cn.build(
    "incast-15",
    title="Incast of 15 hosts at 100 Gb/s",
    topology={"kind": "single-switch", "hosts": 16, "ports": 16, "link_rate": "100 Gb/s", "link_delay": "0.5 us"},
    switch={"buffer": "IN", "share": "1 MB"},
    workload={"kind": "transfers", "frame": "1000 B", "transfers": [f"10 us, H{i}, H0, 1 MB" for i in range(1, 16)]},
    run={"duration": "20 ms"},
    record={"bin": "20 us"},
    scheme=["dcqcn", "none"],
)
usual = incast.with_(scheme="dcqcn").run()
usual

# %%
both = cn.sweep(incast, scheme=["none", "dcqcn"], seeds=2)
both.plot("hot_queue")

# %%
found = cn.tune(
    incast.with_(scheme="dcqcn"),
    over={
        "scheme.params.k_min": ("5 KB", "400 KB", "log"),
        "scheme.params.k_max": ("400 KB", "1600 KB", "log"),
        "scheme.params.p_max": (0.01, 1.0, "log"),
    },
    minimise=["completion_time_max", "mean_hot_queue"],
    subject_to="incomplete_transfers == 0",
    trials=trials,
    seeds=2,
)
found.plot()

# %%
print(found.explain())

# %%
found.sensitivity()
