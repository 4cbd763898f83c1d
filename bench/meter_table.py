"""Prints a table of kernelfleet-meter results.

    python bench/meter_table.py RESULT.json…

For each file: the arms, the timer, how many of its runs have an interval of the
mean log-ratio (Student's t over blocks, 95 %) that excludes zero, its median
half-width, the median ratio and the time of a run.
"""

import json
import math
import statistics
import sys

# Two-sided 95 % quantiles of Student's t by degrees of freedom.
T95 = {5: 2.571, 10: 2.228, 15: 2.131, 20: 2.086, 23: 2.069, 30: 2.042,
       60: 2.000, 120: 1.980}


def t95(freedom):
    return T95[max(k for k in T95 if k <= freedom)]


def interval(measurement):
    ratios = [math.log(statistics.median(b["b_us"]) /
                       statistics.median(b["a_us"]))
              for b in measurement["blocks"] if not b["control"]]
    mean = statistics.fmean(ratios)
    half = (t95(len(ratios) - 1) * statistics.stdev(ratios) /
            math.sqrt(len(ratios)))
    return mean, half


def main():
    print("| plan | timer | calls a sample | µs a call | runs | excludes 0 | "
          "ratio | half-width | blocks | s a run |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        name = path.rsplit("/", 1)[-1].removesuffix(".result.json")
        if "error" in result:
            print(f"| {name} | error: {result['error']} |")
            continue
        runs = result["measurements"]
        pairs = [interval(run) for run in runs]
        excludes = sum(abs(mean) > half for mean, half in pairs)
        call = statistics.median(x for run in runs for b in run["blocks"]
                                 for x in b["a_us"])
        ratio = math.exp(statistics.median(mean for mean, _ in pairs)) - 1
        print(f"| {name} | {runs[0]['timer']} | {runs[0]['calls_per_sample']} "
              f"| {call:.2f} | {len(runs)} | {excludes} | {ratio:+.3%} "
              f"| ±{statistics.median(h for _, h in pairs):.3%} "
              f"| {statistics.median(len(r['blocks']) for r in runs):.0f} "
              f"| {statistics.median(r['seconds'] for r in runs):.2f} |")


if __name__ == "__main__":
    main()
