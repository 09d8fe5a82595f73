# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Charts, drawn by matplotlib when one is asked for."""
from .options import Fail
from .results import tera

LOOK = {"font.size": 9, "axes.grid": True, "grid.color": "#e3e3e3", "axes.axisbelow": True,
        "figure.facecolor": "#fdfdfd", "axes.facecolor": "#fdfdfd", "svg.hashsalt": "tessera", "svg.fonttype": "none",
        "legend.frameon": False}


def figure(path, panels, height=4.2):
    """A column of panels: functions that are given axes. Each has its legend beside it."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise Fail("--plot: matplotlib is not here; install python3-matplotlib") from None
    with pyplot.rc_context(LOOK):
        chart, axes = pyplot.subplots(len(panels), 1, figsize=(8, height * len(panels)),
                                      squeeze=False, layout="constrained")
        for panel, axis in zip(panels, axes[:, 0]):
            panel(axis)
            if axis.get_legend_handles_labels()[0]:
                axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
        try:
            chart.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)
        except (OSError, ValueError) as error:
            raise Fail(f"--plot {path}: {error}") from None
        finally:
            pyplot.close(chart)


def name_axes(axis, title, x, y):
    axis.set_title(title, loc="left", fontweight="bold")
    axis.set_xlabel(x)
    axis.set_ylabel(y)


def extents_on_x(axis, values):
    """A logarithmic axis with the values that occur; none stands on another's label."""
    ticks = []
    for value in sorted(set(values)):
        if not ticks or value > 1.08 * ticks[-1]:
            ticks.append(value)
    axis.set_xscale("log", base=2)
    axis.set_xticks(ticks, [f"{v:.0f}" for v in ticks])
    axis.minorticks_off()


def plural(count, what):
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def cube(row):
    """The extent of a cube of as many flops."""
    return (row["m"] * row["n"] * row["k"]) ** (1 / 3)


def distinct(values):
    return list(dict.fromkeys(values))


def rates(path, rows, ours="tessera", points=False, peer_points=False):
    """TFLOP/s against N (of other shapes the cube root of M N K): a panel for each operation, type
    and home, and a line for each number of devices with its limit, the rate at the floor, and its
    peer. points: marks in place of lines."""
    groups = {}
    for row in rows:
        groups.setdefault((row["op"], row["type"], row["home"]), []).append(row)

    def panel(call, group):
        def draw(axis):
            peer = next((r["peer"] for r in group if r["peer"]), "peer")
            for colour, count in enumerate(sorted({r["devices"] for r in group})):
                for name, column, line, mark in ((ours, "median_s", "-", "o"),
                                                 ("limit", "floor_s", "--", "_"),
                                                 (peer, "peer_s", ":", ".")):
                    some = sorted((r for r in group if r["devices"] == count and r.get(column)),
                                  key=cube)
                    marks = points or (peer_points and column == "peer_s")
                    if some:
                        axis.plot([cube(r) for r in some], [tera(r, r[column]) for r in some],
                                  color=f"C{colour}", linestyle="" if marks else line,
                                  marker=mark if marks or column != "floor_s" else "",
                                  label=f"{name}, {plural(count, 'device')}")
            name_axes(axis, f"{call[1]}{call[0]}, home {call[2]}", "N", "TFLOP/s")
            if len({cube(r) for r in group}) <= 12:
                extents_on_x(axis, [cube(r) for r in group])
            axis.set_ylim(bottom=0)
        return draw

    figure(path, [panel(call, group) for call, group in groups.items()])
