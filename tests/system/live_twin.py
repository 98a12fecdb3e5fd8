"""The same policy under the same load twice: in tts-local, whose clock runs faster, and in tts-bench simulate.

With --fast F a second of the cloud passes in 1/F real seconds: periods, cooldowns and starts are shorter, service times are not.
Seen from the cloud's clock an instance is therefore F times slower and meets F times fewer requests a second. That is what is
simulated: measured times, the SLO and nothing else multiplied by F, rates divided by F. Concurrency, queue limits and counts of
instances are the same in both. What tts-local publishes as rates is in real requests a second, so the live endpoint gets the plan
of the measurement as it is, and the simulation the plan of the stretched one; both must have the same bounds.
"""

import gzip
import json
import math
import pathlib
import random
import threading
import time
from datetime import datetime

from bench_tools import Bench
from local_cloud import BIN, LocalCloud, make_endpoint, wait_for, wait_status

PERIOD_S = 10
Q_MAX = 10


class Twin:
    def __init__(self, folder: pathlib.Path, fast: float, delay_s: float, service_ms: float = 60, jitter: float = 0.1):
        self.folder, self.fast, self.service_ms = folder, fast, service_ms
        pace = {"TTS_ENGINE": "paced", "TTS_SERVICE_MS": str(service_ms), "TTS_OVERHEAD_MS": "4", "TTS_JITTER": str(jitter),
                "MAX_QUEUE_DEPTH": str(Q_MAX), "TTS_EMF": "true"}
        self.cloud = LocalCloud(folder / "cloud", "--fast", str(fast), "--provision-delay", f"{delay_s}s", serve=BIN / "tts-serve")
        self.sagemaker = make_endpoint(self.cloud, "e", environment=pace)
        self.bench = Bench(self.cloud, folder)

    def close(self) -> None:
        self.cloud.stop()

    # Measured in real time, one instance.
    def measure(self, seconds: float = 5) -> None:
        self.slo_ms = 1.5 * Q_MAX * self.service_ms
        rungs = []
        for n in (1, Q_MAX):
            load = self.load("--n", str(n), "--duration", f"{seconds}s", "--warm-up", "500ms")
            rungs.append({"n": n, "p95_ms": load["ttfab_ms"]["p95"], "rps": load["rps"], "metric_ratio": 1.0})
            if n == 1:
                sample = sorted(latencies(self.records(load)))
                unqueued = {"mean_ms": load["ttfab_ms"]["mean"], "p95_ms": load["ttfab_ms"]["p95"], "sample_ms": sample}
        self.mu = rungs[-1]["rps"]
        self.measured = {"rungs": rungs, "unqueued": unqueued}
        began = time.time()
        self.set_desired(2)
        while self.fleet() != (2, 2):
            time.sleep(0.02)
        self.start_s = (time.time() - began) * self.fast
        self.set_desired(1)
        wait_status(self.sagemaker, "e")

    def load(self, *words: str) -> dict:
        done = self.bench.run("load", "--yes", "--quiet", *words, timeout=600)
        assert done.returncode in (0, 4), done.stdout
        return self.bench.artifact("load")

    @staticmethod
    def records(load: dict) -> list[dict]:
        with gzip.open(load["requests"], "rt") as lines:
            head = json.loads(next(lines))
            zero = datetime.fromisoformat(head["created"].replace("Z", "+00:00")).timestamp()
            return [{**json.loads(line), "zero": zero} for line in lines]

    def set_desired(self, count: int) -> None:
        self.sagemaker.update_endpoint_weights_and_capacities(
            EndpointName="e", DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": count}])

    def fleet(self) -> tuple[int, int]:
        variant = self.sagemaker.describe_endpoint(EndpointName="e")["ProductionVariants"][0]
        return variant["DesiredInstanceCount"], variant["CurrentInstanceCount"]

    # The two plans.
    def plan(self, rule: str, carrier: str, trough_rps: float, peak_rps: float) -> dict:
        plans = {}
        for name, factor in (("stretched", self.fast), ("live", 1)):
            out = self.folder / name
            out.mkdir(exist_ok=True)
            m = self.measured
            qmax = {"schema": "headroom/qmax", "version": 1, "slo_ms": self.slo_ms * factor, "transport": "response-stream", "q_max": Q_MAX,
                    "rungs": [{**r, "p95_ms": r["p95_ms"] * factor, "rps": r["rps"] / factor} for r in m["rungs"]],
                    "unqueued": {key: [v * factor for v in value] if isinstance(value, list) else value * factor
                                 for key, value in m["unqueued"].items()}}
            ttotal = {"schema": "headroom/ttotal", "version": 1, "transport": "response-stream", "measured_total_s": self.start_s,
                      "policy_lag_bound_s": 60, "total_s": self.start_s + 60}
            (out / "qmax.json").write_text(json.dumps(qmax))
            (out / "ttotal.json").write_text(json.dumps(ttotal))
            done = self.bench.run("plan", "--qmax", out / "qmax.json", "--ttotal", out / "ttotal.json", "--rule", rule,
                                  "--carrier", carrier, "--peak-rps", str(peak_rps / factor), "--trough-rps", str(trough_rps / factor))
            assert done.returncode in (0, 3), done.stdout
            plans[name] = self.bench.artifact("plan")
            (out / "plan.json").write_text(json.dumps(plans[name]))
        for key in ("min_instances", "max_instances", "queue_limit", "scale_out_cooldown_s", "scale_in_cooldown_s"):
            assert plans["live"][key] == plans["stretched"][key], key
        self.bench.ok("apply", "--yes")
        return plans["live"]

    # `steps`: (cloud seconds, real requests a second), one after the other.
    def live(self, steps: list[tuple[float, float]], seed: int = 1) -> dict:
        arrivals, at = [], 0.0
        draw = random.Random(seed)
        for length, rate in steps:
            end, now = at + length / self.fast, at + draw.expovariate(rate)
            while now < end:
                arrivals.append(now)
                now += draw.expovariate(rate)
            at = end
        texts = self.folder / "load.jsonl"
        texts.write_text("".join(json.dumps({"text": "The same words, again and again.", "t_s": t}) + "\n" for t in arrivals))
        wait_for(lambda: self.fleet() == (1, 1), timeout=120)
        watch = Watch(self)
        try:
            load = self.load("--arrivals", "trace", "--workload", f"file:{texts}", "--duration", f"{at:.1f}s")
        finally:
            watch.end()
        records = self.records(load)
        planned = [r["zero"] + r["planned_s"] for r in records]
        # The cloud's clock is real time since 1970, F times as fast; its periods and minutes begin on multiples.
        begin = (min(planned) * self.fast - 60) // 60 * 60
        good = latencies(records)
        within = sum(ms <= self.slo_ms for ms in good)
        return {"arrivals": sorted(t * self.fast - begin for t in planned), "client": load["client"],
                "fleet": [(t * self.fast - begin, desired, serving) for t, desired, serving in watch.points],
                "p95_ms": percentile(good, 0.95), "share": within / len(records)}

    def simulated(self, arrivals: list[float]) -> dict:
        trace = self.folder / "trace.csv"
        # The times of a trace begin at its first; that is the mark at which the live clock was read.
        trace.write_text("t_s\n0\n" + "".join(f"{t:.6f}\n" for t in arrivals))
        out = self.folder / "stretched"
        self.bench.ok("simulate", "--qmax", out / "qmax.json", "--ttotal", out / "ttotal.json", "--plan", out / "plan.json",
                      "--trace", trace, "--initial", "1", "--no-rivals")
        row = next(r for r in self.bench.artifact("simulate")["rows"] if r["name"] == "plan")
        timeline = row["timeline"]
        assert timeline["step_s"] == PERIOD_S, "the load is too long for a timeline of single periods"
        return {"desired": timeline["desired"], "in_service": timeline["in_service"], "share": row["share_within_slo"],
                "p95_ms": row["p95_ms"] / self.fast}

    def compare(self, steps: list[tuple[float, float]], seed: int = 1) -> dict:
        seen = self.live(steps, seed)
        told = self.simulated(seen["arrivals"])
        count = len(told["in_service"])
        observed = [level_at(seen["fleet"], PERIOD_S * (i + 1), 2) for i in range(count)]
        return {
            "predicted_out_s": next((PERIOD_S * i for i, n in enumerate(told["desired"]) if n > 1), None),
            "observed_out_s": next((at for at, desired, _ in seen["fleet"] if at > 0 and desired > 1), None),
            "predicted_fleet": told["in_service"], "observed_fleet": observed,
            "equal_share": sum(a == b for a, b in zip(told["in_service"], observed, strict=True)) / count,
            "predicted_p95_ms": told["p95_ms"], "observed_p95_ms": seen["p95_ms"],
            "predicted_share": told["share"], "observed_share": seen["share"],
            "requests": len(seen["arrivals"]), "lag_p95_ms": seen["client"]["lag_p95_ms"],
        }

    def quiet_enough(self, result: dict) -> bool:
        """False where this machine woke the driver or the instance so late that latencies are its own and not the policy's."""
        return result["lag_p95_ms"] < 0.15 * self.service_ms


class Watch:
    """Reads desired count and instances in service in the background."""

    def __init__(self, twin: Twin, every: float = 0.05):
        self.points: list[tuple[float, int, int]] = []
        self.over = threading.Event()

        def read():
            while not self.over.wait(every):
                desired, serving = twin.fleet()
                self.points.append((time.time(), desired, serving))

        self.thread = threading.Thread(target=read)
        self.thread.start()

    def end(self) -> None:
        self.over.set()
        self.thread.join()


def latencies(records: list[dict]) -> list[float]:
    """Time to the first byte from the planned start, ms, of what went well."""
    return [1000 * (r["start_s"] - (r["planned_s"] or r["start_s"])) + r["first_byte_ms"] for r in records if r["outcome"] == "ok"]


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[math.ceil(share * len(values)) - 1]


def level_at(points: list[tuple], at: float, column: int) -> int:
    before = [p for p in points if p[0] <= at]
    return (before or points)[-1 if before else 0][column]
