"""speech-infra: its own tests, cfn-lint, the command as people run it, and the endpoint stack applied to the local cloud."""

import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import tomllib

import pytest
from bench_tools import Bench
from cloudformation import Stack
from local_cloud import BIN, ROOT, LocalCloud, wait_for, wait_status

INFRA = ROOT / "infra"
SNAPSHOTS = INFRA / "test" / "snapshots"
FIXTURES = INFRA / "test" / "fixtures"
ENDPOINT = "speech-kokoro-82m"
FORMS = ["published", "native", "offered-rate"]
# A network of its own in which only the machine itself answers; without root the test runs as it is.
ALONE = ["unshare", "--net", "bash", "-c", 'ip link set lo up; exec "$@"', "alone"]
OFFLINE = ALONE if os.geteuid() == 0 and shutil.which("unshare") else []


def clean_environment() -> dict:
    """No AWS settings, and none to be found."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    return {**kept, "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_EC2_METADATA_DISABLED": "true"}


def speech_infra(*words, cwd=None, environment=None, offline=False) -> subprocess.CompletedProcess:
    command = [*(OFFLINE if offline else []), INFRA / "bin" / "speech-infra", *words]
    return subprocess.run(command, cwd=cwd, env=environment or clean_environment(), text=True, timeout=240,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.fixture(scope="module", autouse=True)
def packages():
    subprocess.run([INFRA / "setup.sh"], check=True, timeout=600)


def test_types_are_strict_and_every_test_of_its_own_passes(tmp_path):
    node = shutil.which("node", path=f"{pathlib.Path.home()}/.cache/headroom/node/bin:{os.environ['PATH']}")
    checked = subprocess.run([node, INFRA / "node_modules" / "typescript" / "bin" / "tsc", "-p", INFRA], text=True, capture_output=True)
    assert checked.returncode == 0, checked.stdout
    tests = sorted(str(path) for path in (INFRA / "test").glob("*.test.ts"))
    done = subprocess.run([*OFFLINE, node, "--import", f"file://{INFRA}/node_modules/tsx/dist/loader.mjs", "--test", *tests], cwd=INFRA,
                          env={**clean_environment(), "TSX_TSCONFIG_PATH": str(INFRA / "tsconfig.json"), "TMPDIR": str(tmp_path)},
                          text=True, timeout=600, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-6000:]
    assert [path.name for path in tmp_path.glob("speech-infra-*")] == [], "folders were left behind"


def test_templates_are_clean_for_cfn_lint():
    done = subprocess.run([pathlib.Path(sys.executable).parent / "cfn-lint", *sorted(SNAPSHOTS.glob("*.json"))], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
    assert done.returncode == 0, done.stdout


def test_synth_works_in_any_folder_without_account_and_network(tmp_path):
    done = speech_infra("synth", "kokoro-82m", "--plan", FIXTURES / "plan-published.json", "--out", "here", cwd=tmp_path, offline=True)
    assert done.returncode == 0 and "autoscaling as" in done.stdout, done.stdout
    text = (tmp_path / "here" / "SpeechEndpointStack-kokoro-82m.template.json").read_text()
    manifest = tomllib.loads((ROOT / "models" / "kokoro-82m.toml").read_text())["weights"]["manifest_sha256"]
    made = json.loads(text.replace(manifest, "0123456789abcdef" * 4))  # the snapshots do not change with the weights
    assert made == json.loads((SNAPSHOTS / "endpoint-published.json").read_text())


@pytest.fixture(params=FORMS)
def deployed(request, tmp_path):
    """The endpoint stack of one policy form, in a local cloud."""
    cloud = LocalCloud(tmp_path / "cloud", "--quota", "9")
    template = json.loads((SNAPSHOTS / f"endpoint-{request.param}.json").read_text())
    stack = Stack(cloud, template, {"ImageUri": "image:1"})
    stack.create()
    wait_status(cloud.client("sagemaker"), ENDPOINT)
    yield cloud, stack, FIXTURES / f"plan-{request.param}.json", Bench(cloud, tmp_path, ENDPOINT)
    cloud.stop()


def test_after_the_stack_drift_and_validate_find_nothing(deployed):
    cloud, stack, plan, bench = deployed
    bench.ok("validate", "--plan", str(plan))
    assert bench.artifact("validate")["verdict"] == "valid"
    said = bench.ok("drift", "--plan", str(plan), "--model", str(ROOT / "models" / "kokoro-82m.toml"))
    found = [check for check in bench.artifact("drift")["checks"] if check["level"] in ("WARN", "ERROR")]
    assert found == [], said
    model = cloud.client("sagemaker").describe_model(ModelName=stack.physical["Model"])
    wanted = json.loads(plan.read_text())
    assert model["PrimaryContainer"]["Environment"]["MAX_QUEUE_DEPTH"] == str(wanted["queue_limit"])
    dashboards = [one for one in stack.skipped.values() if "DashboardBody" in one]
    assert [json.loads(one["DashboardBody"])["start"] for one in dashboards] == ["-PT3H"]  # whole JSON once it is resolved


def test_apply_has_nothing_to_do_after_the_stack(deployed):
    _, _, plan, bench = deployed
    assert "nothing to do" in bench.ok("apply", "--yes", "--plan", str(plan))


def test_status_shows_what_stands_where_cloudformation_is_not_offered(tmp_path):
    cloud = LocalCloud(tmp_path / "cloud")
    try:
        template = json.loads((SNAPSHOTS / "endpoint-published.json").read_text())
        Stack(cloud, template, {"ImageUri": "image:1"}).create()
        wait_status(cloud.client("sagemaker"), ENDPOINT)
        done = speech_infra("status", "kokoro-82m", "--plan", FIXTURES / "plan-published.json", "--endpoint-url", cloud.url, cwd=tmp_path,
                            environment={**clean_environment(), "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local",
                                         "AWS_SECRET_ACCESS_KEY": "local"})
        assert done.returncode == 0, done.stdout
        for word in ("InService", "1 of 1 instances of ml.g5.xlarge", f"headroom-{ENDPOINT}-AllTraffic-out", "TargetTrackingScaling",
                     f"{ENDPOINT}-slo-p95", "CloudFormation is not offered", "old"):
            assert word in done.stdout, (word, done.stdout)
    finally:
        cloud.stop()


def test_a_model_for_gpu_machines_speaks_on_the_cpu_in_a_local_cloud(tmp_path):
    cloud = LocalCloud(tmp_path / "cloud", command=("up", str(ROOT / "models" / "kokoro-82m.toml")))
    try:
        wait_for(lambda: cloud.client("sagemaker").list_endpoints()["Endpoints"])  # it listens before it creates
        wait_status(cloud.client("sagemaker"), ENDPOINT)
        container = cloud.client("sagemaker").describe_model(ModelName=ENDPOINT)["PrimaryContainer"]
        assert container["Environment"] == {"TTS_ENGINE": "openvino"}
        assert "have no GPU" in cloud.log()
    finally:
        cloud.stop()


def test_deploying_to_a_local_cloud_says_what_to_use_instead(tmp_path):
    cloud = LocalCloud(tmp_path / "cloud")
    try:
        done = speech_infra("deploy", "kokoro-82m", "--yes", "--region", "us-east-1", "--endpoint-url", cloud.url, cwd=tmp_path,
                            environment={**clean_environment(), "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"})
    finally:
        cloud.stop()
    assert done.returncode == 1 and "does not offer CloudFormation -> " in done.stdout and "tts-local up" in done.stdout, done.stdout


def test_the_container_takes_every_variable_of_the_stack_and_prints_the_policys_metric(tmp_path):
    template = json.loads((SNAPSHOTS / "endpoint-offered-rate.json").read_text())
    environment = template["Resources"]["Model"]["Properties"]["PrimaryContainer"]["Environment"]
    assert environment["TTS_EMF"] == "1" and environment["MAX_QUEUE_DEPTH"] == "50"
    environment.update(TTS_ENGINE="paced", TTS_SERVICE_MS="1")
    cloud = LocalCloud(tmp_path / "cloud", serve=BIN / "tts-serve")
    try:
        Stack(cloud, template, {"ImageUri": "image:1"}).create()
        wait_status(cloud.client("sagemaker"), ENDPOINT)
        logs = cloud.client("logs")

        def metric_line():
            events = logs.filter_log_events(logGroupName=f"/aws/sagemaker/Endpoints/{ENDPOINT}")["events"]
            return next((event["message"] for event in events if "OfferedRequests" in event["message"]), None)

        line = json.loads(wait_for(metric_line, timeout=40, every=0.5))
        watched = next(one["Properties"] for name, one in template["Resources"].items() if name.startswith("AutoscalingAlarmOut"))
        assert (watched["Namespace"], watched["MetricName"]) == ("Headroom", "OfferedRequests")
        dimensions = {one["Name"]: one["Value"] for one in watched["Dimensions"]}
        assert {name: line[name] for name in dimensions} == dimensions
    finally:
        cloud.stop()


def infra_hash(workload: str, transport: str) -> str:
    node = shutil.which("node", path=f"{pathlib.Path.home()}/.cache/headroom/node/bin:{os.environ['PATH']}")
    script = f"""const {{ workloadHash }} = await import("file://{INFRA}/src/plan/workload.ts");
                 console.log(workloadHash({json.dumps(workload)}, {json.dumps(transport)}));"""
    done = subprocess.run([node, "--import", f"file://{INFRA}/node_modules/tsx/dist/loader.mjs", "--input-type=module", "-e", script],
                          cwd=INFRA, env={**clean_environment(), "TSX_TSCONFIG_PATH": str(INFRA / "tsconfig.json")},
                          text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout.strip()


@pytest.mark.parametrize("transport", ["response-stream", "buffered", "bidirectional"])
def test_workload_hashes_are_those_of_tts_bench(tmp_path, transport):
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"text": "One."}\n\n{"text": "Two, \\u00fcber.", "t_s": 1.5}\n')
    for workload in ("short", "agent", f"file:{lines}"):
        done = subprocess.run([BIN / "tts-bench", "qmax", "--endpoint", "e", "--workload", workload, "--transport", transport, "--dry-run",
                               "--region", "us-east-1"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment(), timeout=60)
        told = done.stdout.split("(hash ")[1].split(")")[0]
        assert infra_hash(workload, transport) == told, done.stdout


WRONG = [
    (["synth", "kokoro-8m"], 2, ["kokoro-8m", "did you mean 'kokoro-82m'"]),
    (["deploy", "kokoro-82m"], 1, ["no AWS region", "--region"]),
    (["deploy", "kokoro-82m", "--region", "us-east-1"], 1, ["no AWS credentials"]),
    (["status", "kokoro-82m", "--region", "us-east-1", "--endpoint-url", "http://10.0.0.1"], 2, ["not https"]),
    (["synth", "kokoro-82m", "--plan", "nowhere.json"], 1, ["nowhere.json", "--plan"]),
    (["synth", "kokoro-82m", "--no-plan", "--out", "/proc/nowhere/x"], 1, ["/proc/nowhere", "check that path"]),
    (["synth", "kokoro-82m", "--no-plan", "--out", "/etc/passwd"], 1, ["/etc/passwd is a file", "name a folder"]),
    (["list", "--al"], 2, ["did you mean --all"]),
]


@pytest.mark.parametrize("words,code,said", WRONG, ids=[" ".join(row[0][:2]) + f" {row[2][0]}" for row in WRONG])
def test_wrong_input_gets_cause_and_remedy(tmp_path, words, code, said):
    done = speech_infra(*words, cwd=tmp_path)
    assert done.returncode == code, done.stdout
    for word in said:
        assert word in done.stdout, done.stdout
    assert " -> " in done.stdout and "    at " not in done.stdout


@pytest.mark.parametrize("kind", ["good", "bad"])
def test_tts_bench_takes_and_refuses_the_same_model_files(tmp_path, kind):
    samples = sorted((INFRA / "test" / "models" / kind).glob("*.toml"))
    assert samples
    for path in samples:
        command = [BIN / "tts-bench", "plan", "--model", path, "--out", tmp_path, "--qmax", "nowhere.json"]
        done = subprocess.run(command, cwd=tmp_path, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment(), timeout=60)
        if kind == "good":
            assert "nowhere.json" in done.stdout and str(path) not in done.stdout, f"{path.name}: {done.stdout}"
        else:
            said = path.read_text().splitlines()[0].removeprefix("# says: ")
            assert str(path) in done.stdout and said in done.stdout, f"{path.name}: {done.stdout}"


def test_tts_bench_allows_the_keys_of_the_schema_and_no_others(tmp_path):
    path = INFRA / "test" / "models" / "bad" / "unknown-top.toml"
    done = subprocess.run([BIN / "tts-bench", "plan", "--model", path, "--out", tmp_path], cwd=tmp_path, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=clean_environment(), timeout=60)
    allowed = set(re.findall(r"[\w.]+", done.stdout.split("allowed are ")[1].splitlines()[0]))
    schema = json.loads((ROOT / "docs" / "schemas" / "model.schema.json").read_text())["properties"]
    keys = {f"{name}.{key}" for name, part in schema.items() for key in part.get("properties", {})}
    assert allowed == keys | {name for name, part in schema.items() if "properties" not in part}


def test_every_key_of_a_model_file_is_explained_and_in_the_schema():
    schema = json.loads((ROOT / "docs" / "schemas" / "model.schema.json").read_text())
    text = (ROOT / "models" / "kokoro-82m.toml").read_text()
    whole = tomllib.loads(text)
    for name, part in schema["properties"].items():
        assert name in whole, name
        for key in part.get("properties", {}):
            assert key in whole[name], f"{name}.{key}"
            at = next(n for n, line in enumerate(text.splitlines()) if line.startswith(f"{key} ="))
            assert "#" in text.splitlines()[at] or text.splitlines()[at - 1].startswith("#"), f"{name}.{key} is not explained"


@pytest.mark.model
def test_model_files_name_the_weights_that_setup_prepared():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "headroom"
    for path in sorted((ROOT / "models").glob("kokoro-82m*.toml")):
        model = tomllib.loads(path.read_text())
        form = {"openvino": "kokoro-82m", "onnxruntime": "kokoro-82m-onnx"}[model["container"]["environment"]["TTS_ENGINE"]]
        prepared = pathlib.Path(os.environ.get("HEADROOM_CACHE", cache)) / "models" / form / "manifest.json"
        manifest = hashlib.sha256(prepared.read_bytes()).hexdigest()
        assert model["weights"]["manifest_sha256"] == manifest, f"{path.name}: put {manifest} there"


@pytest.mark.model
@pytest.mark.parametrize("form", ["kokoro-82m", "kokoro-82m-onnx"])
def test_the_model_cache_build_prepares_the_weights_and_refuses_others(tmp_path, form):
    whole = f"source {ROOT}/setup/common.sh; source {ROOT}/setup/steps.sh; have_model && have_onnx_model"
    if subprocess.run(["bash", "-c", whole]).returncode != 0:
        pytest.skip("the model directory is not what setup would make now; run ./dev setup")  # this test is no place to make it
    script = INFRA / "assets" / "prepare-model.sh"
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "headroom"
    prepared = pathlib.Path(os.environ.get("HEADROOM_CACHE", cache)) / "models" / form
    manifest = hashlib.sha256((prepared / "manifest.json").read_bytes()).hexdigest()
    run = dict(text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    done = subprocess.run([*OFFLINE, "bash", script, tmp_path / "bucket", manifest], **run)
    assert done.returncode == 0 and manifest in done.stdout, done.stdout
    copied = json.loads((tmp_path / "bucket" / "manifest.json").read_text())
    for entry in copied["files"]:
        assert hashlib.sha256((tmp_path / "bucket" / entry["path"]).read_bytes()).hexdigest() == entry["sha256"]
    refused = subprocess.run([*OFFLINE, "bash", script, tmp_path / "other", "0" * 64], **run)
    assert refused.returncode == 1 and "correct weights.manifest_sha256" in refused.stdout and not (tmp_path / "other").exists()


class Hub(http.server.SimpleHTTPRequestHandler):
    """Hugging Face as the build sees it: files of one commit, for one token."""

    folder = pathlib.Path()
    damaged = ""

    def do_GET(self):
        prefix = f"/owner/name/resolve/{'a' * 40}/"
        if self.headers["Authorization"] != "Bearer secret" or not self.path.startswith(prefix):
            return self.send_error(401)
        name = self.path.removeprefix(prefix)
        data = (self.folder / name).read_bytes()
        self.send_response(200)
        self.end_headers()
        return self.wfile.write(data + b"x" if name == self.damaged else data)

    def log_message(self, *words):
        """Nothing is told: pytest's output is the place for that."""


@pytest.mark.model
def test_weights_of_a_hub_are_taken_at_their_hashes_only(tmp_path):
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "headroom"
    whole = pathlib.Path(os.environ.get("HEADROOM_CACHE", cache)) / "models" / "kokoro-82m"
    model = tmp_path / "model"  # a few files are enough
    (model / "voices").mkdir(parents=True)
    manifest = json.loads((whole / "manifest.json").read_text())
    manifest["files"] = [entry for entry in manifest["files"] if entry["path"] in ("vocab.json", "voices/af_heart.bin")]
    for entry in manifest["files"]:
        shutil.copyfile(whole / entry["path"], model / entry["path"])
    (model / "manifest.json").write_text(json.dumps(manifest))
    names = ("manifest.json", "vocab.json", "voices/af_heart.bin")
    files = {name: hashlib.sha256((model / name).read_bytes()).hexdigest() for name in names}
    Hub.folder = model
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def build(target: str, token: str = "secret") -> subprocess.CompletedProcess:
        return subprocess.run(
            ["bash", INFRA / "assets" / "prepare-model.sh", tmp_path / target, files["manifest.json"]], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=120,
            env={**os.environ, "HEADROOM_CACHE": str(tmp_path / f"cache-{target}"), "HF_REPOSITORY": "owner/name", "HF_REVISION": "a" * 40,
                 "HF_FILES": "\n".join(f"{hash_}  {name}" for name, hash_ in files.items()), "HF_TOKEN": token,
                 "HF_ENDPOINT": f"http://127.0.0.1:{server.server_address[1]}", "no_proxy": "127.0.0.1"})

    try:
        done = build("bucket")
        assert done.returncode == 0 and (tmp_path / "bucket" / "voices" / "af_heart.bin").exists(), done.stdout
        Hub.damaged = "vocab.json"
        done = build("damaged")
        assert done.returncode == 1 and "another SHA-256" in done.stdout and not (tmp_path / "damaged").exists(), done.stdout
        Hub.damaged = ""
        done = build("refused", token="wrong")
        assert done.returncode == 1 and "check repository, revision, path and token" in done.stdout, done.stdout
        assert "wrong" not in done.stdout, "the token was shown"
    finally:
        server.shutdown()
