# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The timeline of a sequence as a picture: python3 sequence.py TRACE.json PICTURE.svg

TRACE.json is what tsr_timeline_end gives. Calls are drawn above, then each device's queues. Queues of one
role ("peers") share a row; staging of the host is left out."""
import json
import sys

WIDTH, LEFT, RIGHT, ROW, TOP = 760, 140, 36, 20, 14
STYLE = """text{font:12px system-ui,sans-serif;fill:#333}.e{text-anchor:end}.m{text-anchor:middle}.g{stroke:#8886}
.c0{fill:#3b6fc4}.c1{fill:#e09a1a}.c2{fill:#2f9e5b}.c3{fill:#8a5bd1}
@media(prefers-color-scheme:dark){text{fill:#ddd}}"""


def bars(events):
    """{row's name: [(begin, end, name, number of the call)]} in the order of rows, ms."""
    names = {}
    for event in events:
        if event["ph"] == "M" and event["name"] in ("process_name", "thread_name"):
            key = event["pid"] if event["name"] == "process_name" else (event["pid"], event["tid"])
            names[key] = event["args"]["name"].replace("measured: ", "")
    rows, call = {}, -1
    for event in events:
        if event["ph"] != "X":
            continue
        place, queue = names[event["pid"]], names[event["pid"], event["tid"]]
        call += place == "calls"  # a call stands before its commands
        if not place.startswith("host"):
            begin = event["ts"] / 1e3
            rows.setdefault((place, queue), []).append((begin, begin + event["dur"] / 1e3, event["name"], call))
    return dict(sorted(rows.items(), key=lambda row: (row[0][0] != "calls", row[0])))


def draw(rows):
    # Calls overlap, so each has a row of its own.
    calls = [((bar[2].split()[0], ""), [bar]) for bar in rows.pop(("calls", "on the devices"))]
    lines = calls + list(rows.items())
    end = max(bar[1] for _, line in lines for bar in line)
    scale, bottom = (WIDTH - LEFT - RIGHT) / end, TOP + ROW * len(lines)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 26}" role="img">'
           f"<title>Timeline of a sequence of calls</title><style>{STYLE}</style>"]
    for i, ((place, queue), line) in enumerate(lines):
        y = TOP + ROW * i
        out.append(f'<text class="e" x="{LEFT - 8}" y="{y + 14}">{place} {queue}</text>')
        out += [f'<rect class="c{call % 4}" x="{LEFT + begin * scale:.1f}" y="{y + 3}" '
                f'width="{max(0.5, (stop - begin) * scale - 0.4):.1f}" height="{ROW - 6}"><title>{name}</title></rect>'
                for begin, stop, name, call in line]
    for i in range(5):
        x = LEFT + (WIDTH - LEFT - RIGHT) * i / 4
        out.append(f'<path class="g" d="M{x:.1f} {TOP}V{bottom}"/>'
                   f'<text class="m" x="{x:.1f}" y="{bottom + 18}">{end * i / 4:.3g}{" ms" if i == 4 else ""}</text>')
    return "\n".join(out + ["</svg>", ""])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(draw(bars(trace["traceEvents"])))
