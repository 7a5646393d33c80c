"""Topologies from networkx graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import ScenarioError

__all__ = ["from_graph"]


def lines(topology: Any) -> Mapping[str, Any]:
    """The table ``topology`` of a scenario, from a mapping of keys or a graph."""
    if topology is None:
        return {}
    if isinstance(topology, Mapping):
        return topology
    if all(hasattr(topology, part) for part in ("nodes", "edges", "degree")):
        return from_graph(topology)
    raise ScenarioError(
        f"topology is a {type(topology).__name__}", "give a mapping of keys to values, or a networkx graph", key="topology"
    )


def from_graph(graph: Any, *, ports: int | None = None) -> dict[str, Any]:
    """The keys of a topology from a networkx graph: nodes of degree one are hosts, the others switches.

    An edge's ``rate`` and ``delay`` (texts with a unit) are those of the link. ``ports`` is the number of ports of each
    switch; the default is one port for each link.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise ScenarioError("the graph has directions or parallel edges", "give an undirected networkx.Graph", key="topology")
    word = {node: str(node).replace(" ", "_") for node in graph.nodes}
    if len(set(word.values())) < len(word):
        raise ScenarioError("two nodes of the graph have the same name", "give each a name of its own", key="topology")
    switches = [node for node in graph.nodes if graph.degree[node] != 1]
    if not switches:
        raise ScenarioError("the graph has no switch", "a node with two links or more is a switch", key="topology")
    nodes = [f"{word[node]} {max(ports or 0, graph.degree[node], 2)}" for node in switches]
    links = []
    for a, b, facts in graph.edges(data=True):
        rate, delay = facts.get("rate"), facts.get("delay")
        if delay is not None and rate is None:
            raise ScenarioError(
                f"the edge {a} - {b} has a delay but no rate", "give it both, or neither", key="topology.links"
            )
        links.append(" ".join([word[a], word[b], *(str(v) for v in (rate, delay) if v is not None)]))
    return {"kind": "graph", "nodes": nodes, "links": links}
