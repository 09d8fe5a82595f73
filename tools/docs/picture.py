# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Pictures of rates as SVG, readable on light and on dark pages."""
import math

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 62, 110, 46, 52

STYLE = """\
text{font:14px system-ui,sans-serif;fill:#333}.title{font-weight:600;font-size:16px}
.grid{stroke:#ddd;stroke-width:1}.line{fill:none;stroke-width:2.5}
.ours{stroke:#0b62a8}.peer{stroke:#c2571a}.floor{stroke:#777;stroke-dasharray:6 5;stroke-width:2}
.dot{stroke:none}.dot.ours,.word.ours{fill:#0b62a8}.dot.peer,.word.peer{fill:#c2571a}.dot.floor{fill:none}
.bar.ours{fill:#0b62a8}.bar.peer{fill:#c2571a}.limit{stroke:#333;stroke-width:2}
.word{stroke:none;font-weight:600}.word.floor{fill:#666;font-weight:400}
@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#3a3a3a}.ours{stroke:#5db3f5}.peer{stroke:#f0924f}
.floor{stroke:#aaa}.bar.ours,.dot.ours,.word.ours{fill:#5db3f5}.bar.peer,.dot.peer,.word.peer{fill:#f0924f}
.limit{stroke:#eee}.word.floor{fill:#bbb}}"""


def nice_top(value):
    """A round number of at least this value, and a round step below it."""
    step = 10 ** math.floor(math.log10(value))
    step = next(s for s in (step / 4, step / 2, step) if value / s <= 6)
    return math.ceil(value / step) * step, step


def spread(places, least=18):
    """Heights of words, moved so that no two are closer than `least`."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for before, after in zip(order, order[1:]):
        moved[after] = max(moved[after], moved[before] + least)
    return moved


def rates(title, curves):
    """curves: (name, class, [(n, TFLOP/s)])."""
    sizes = sorted({n for _, _, points in curves for n, _ in points})
    top, step = nice_top(max(rate for _, _, points in curves for _, rate in points))

    def x(n):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log2(n / sizes[0]) / math.log2(sizes[-1] / sizes[0])

    def y(rate):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / top

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
           f"<title>{title}</title><style>{STYLE}</style>", f'<text class="title" x="{LEFT}" y="22">{title}</text>']
    for i in range(round(top / step) + 1):
        rate = i * step
        out.append(f'<path class="grid" d="M{LEFT} {y(rate):.1f}H{WIDTH - RIGHT}"/>'
                   f'<text x="{LEFT - 8}" y="{y(rate) + 5:.1f}" text-anchor="end">{rate:g}</text>')
    out.append(f'<text x="14" y="{(HEIGHT - BOTTOM + TOP) / 2:.0f}" text-anchor="middle" '
               f'transform="rotate(-90 14 {(HEIGHT - BOTTOM + TOP) / 2:.0f})">TFLOP/s</text>')
    for n in sizes:
        out.append(f'<text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 22}" text-anchor="middle">{n}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">'
               "N, of three N x N matrices</text>")
    words = spread([y(points[-1][1]) for _, _, points in curves])
    for (name, kind, points), height in zip(curves, words):
        path = "L".join(f"{x(n):.1f} {y(rate):.1f}" for n, rate in points)
        out.append(f'<path class="line {kind}" d="M{path}"/>')
        out += [f'<circle class="dot {kind}" cx="{x(n):.1f}" cy="{y(rate):.1f}" r="4"/>' for n, rate in points]
        out.append(f'<text class="word {kind}" x="{WIDTH - RIGHT + 12}" y="{height + 5:.1f}">{name}</text>')
    return "\n".join([*out, "</svg>\n"])


ROW, NAMES = 22, 205  # pixels: height of a row of bars, width of the names beside them


def bars(title, unit, found, least=None):
    """found: (label, class, value, limit): a bar for each, and a mark at its limit. least: the axis is logarithmic and
    begins there."""
    most = max(max(value, limit) for _, _, value, limit in found)
    height = 40 + ROW * len(found) + 46
    if least:
        first, last = round(math.log10(least)), math.ceil(math.log10(most))
        ticks = [10.0 ** power for power in range(first, last + 1)]
    else:
        top, step = nice_top(most)
        ticks = [i * step for i in range(round(top / step) + 1)]

    def x(value):
        share = max(math.log10(max(value, least)) - first, 0) / (last - first) if least else value / top
        return NAMES + (WIDTH - NAMES - 60) * share

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
           f"<title>{title}</title><style>{STYLE}</style>", f'<text class="title" x="12" y="22">{title}</text>']
    for tick in ticks:
        out.append(f'<path class="grid" d="M{x(tick):.1f} 36V{height - 40}"/>'
                   f'<text x="{x(tick):.1f}" y="{height - 24}" text-anchor="middle">{tick:g}</text>')
    for row, (label, kind, value, limit) in enumerate(found):
        y = 40 + ROW * row
        out.append(f'<text x="{NAMES - 8}" y="{y + 15}" text-anchor="end">{label}</text>'
                   f'<rect class="bar {kind}" x="{NAMES}" y="{y + 3}" width="{x(value) - NAMES:.1f}" height="{ROW - 6}"/>')
        out.append(f'<path class="limit" d="M{x(limit):.1f} {y + 1}V{y + ROW - 1}"/>'
                   f'<text x="{x(max(value, limit)) + 6:.1f}" y="{y + 15}">{float(f"{value:.3g}"):g}</text>')
    out.append(f'<text x="{NAMES}" y="{height - 6}">{unit}</text>')
    return "\n".join([*out, "</svg>\n"])
