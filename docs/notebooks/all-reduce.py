# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     name: python3
#     display_name: Python 3
# ---

# %% [markdown]
# # Bus bandwidth of an all-reduce over its size
#
# Eight hosts of two leaves sum up vectors of 16 KB to 4 MB by three algorithms. Bus bandwidth is the size over the time, times 2(n-1)/n,
# as nccl-tests has it. At which size does which algorithm lead?

# %%
import cnsim as cn

sizes = ["16 KB", "64 KB", "256 KB", "1 MB", "4 MB"]
algorithms = ["ring", "double-tree", "halving-doubling"]
fabric = cn.build(
    "all-reduce",
    title="All-reduce of 8 hosts",
    topology={"kind": "leaf-spine", "leaves": 2, "spines": 4, "per_switch": 4, "link_rate": "100 Gb/s"},
    switch={"buffer": "shared", "memory": "16 MB"},
    host={"queues": "per-flow"},
    traffic=[{"name": "job", "kind": "all-reduce", "hosts": ["H0..H7"], "size": "1 MB"}],
    run={"duration": "4 ms"},
    scheme="none",
)

# %%
times = cn.sweep(fabric, {"traffic.job.algorithm": algorithms, "traffic.job.size": sizes}, seeds=2)
bandwidth = times.to_xarray()["bus_bandwidth"].mean("seed")
wide = bandwidth.to_pandas().T
wide

# %%
wide.plot(marker="o", logx=True, xlabel="size [B]", ylabel="bus bandwidth [GB/s]")

# %% [markdown]
# The algorithm with the largest bus bandwidth at each size:

# %%
wide.idxmax(axis=1)
