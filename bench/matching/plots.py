"""Plots of the benchmark of matchers: one file for each part, SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    """Draw what there are figures for."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, plot in {"w0": _w0, "seed": _seed, "threads": _threads}.items():
        chosen = [row for row in rows if row["part"] == part]
        if chosen:
            figure = plot(chosen)
            for suffix in ("svg", "png"):
                figure.savefig(folder / f"topics-{part}.{suffix}", bbox_inches="tight", dpi=110)
            pyplot.close(figure)


def _engines(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["engine"] for row in rows))


def _w0(rows: list[dict[str, Any]]) -> Any:
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for engine in _engines(rows):
        mine = [row for row in rows if row["engine"] == engine]
        axes.loglog([row["size"] for row in mine], [row["match"] for row in mine], marker="o", label=engine)
    axes.set(xlabel="subscriptions", ylabel="CPU ns a topic", title="W0: matching, one thread")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def _seed(rows: list[dict[str, Any]]) -> Any:
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True)
    for axes, held in zip(panels, (0, 1000), strict=True):
        mine = [row for row in rows if row["held"] == held]
        for n, step in enumerate(("subscribe", "unsubscribe", "lookup")):
            axes.bar([x + n / 4 for x in range(len(mine))], [row[step] for row in mine], 0.24, label=step)
        axes.set_yscale("log")
        axes.set_xticks([x + 0.25 for x in range(len(mine))], [row["engine"] for row in mine], rotation=20)
        axes.set(title=f"{held:,} subscriptions", ylabel="CPU ns" if held == 0 else "")
    panels[0].legend(fontsize=8)
    return figure


def _threads(rows: list[dict[str, Any]]) -> Any:
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True)
    for axes, writes in zip(panels, (50, 10), strict=True):
        for engine in _engines(rows):
            mine = [row for row in rows if row["engine"] == engine and row["writes"] == writes]
            axes.semilogy([row["threads"] for row in mine], [row["us"] for row in mine], marker="o", label=engine)
        axes.set(xlabel="threads", ylabel="us an operation", title=f"{100 - writes} % reads, {writes} % writes")
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=8)
    return figure
