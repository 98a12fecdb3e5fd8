"""The status page: its headers and feed, and what Chromium makes of it (a screenshot beside the test's files)."""

import http.client
import json
import urllib.error
import urllib.request

import pytest
from browser import Browser
from local_cloud import LocalCloud, make_endpoint, wait_for

TARGET = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic",
          "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
POLICY = "surge <img src=x>"  # a name that would be markup if it were not shown as text


@pytest.fixture
def cloud(tmp_path):
    local = LocalCloud(tmp_path / "state")
    make_endpoint(local)
    scaling = local.client("application-autoscaling")
    scaling.register_scalable_target(**TARGET, MinCapacity=2, MaxCapacity=4)
    scaling.put_scaling_policy(**TARGET, PolicyName=POLICY, PolicyType="TargetTrackingScaling", TargetTrackingScalingPolicyConfiguration={
        "TargetValue": 5.0, "PredefinedMetricSpecification": {
            "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"}})
    wait_for(lambda: local.client("sagemaker").describe_endpoint(EndpointName="e")["ProductionVariants"][0]["CurrentInstanceCount"] == 2)
    yield local
    assert local.stop() == 0


def snapshots(url, count):
    with urllib.request.urlopen(url, timeout=20) as feed:
        assert feed.headers["Content-Type"] == "text/event-stream"
        found = []
        while len(found) < count:
            line = feed.readline().decode()
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
        return found


def test_the_feed_holds_endpoints_instances_lines_alarms_and_activities(cloud):
    first, second = snapshots(cloud.url + "/events", 2)
    assert second["time"] > first["time"] and first["used"] == 2
    variant = first["endpoints"][0]["variants"][0]
    assert [i["state"] for i in variant["instances"]] == ["in service"] * 2 and (variant["min"], variant["max"]) == (2, 4)
    assert {"name": POLICY + ": target", "value": 5.0} in variant["lines"]
    assert len(first["alarms"]) >= 1 and "minimum capacity" in first["activities"][0]["cause"]


def test_the_page_runs_no_foreign_script_and_needs_the_token_where_signatures_are_checked(cloud, tmp_path):
    with urllib.request.urlopen(cloud.url + "/", timeout=20) as page:
        policy, text = page.headers["Content-Security-Policy"], page.read().decode()
    nonce = policy.split("script-src 'nonce-")[1].split("'")[0]
    assert "default-src 'none'" in policy and f'<script nonce="{nonce}">' in text and "NONCE" not in text
    checked = LocalCloud(tmp_path / "checked", "--credentials", "A:b", "--control-token", "t k")
    try:
        for path, status in (("/", 403), ("/events?token=x", 403), ("/?token=t%20k", 200)):
            try:
                got = urllib.request.urlopen(checked.url + path, timeout=20).status
            except urllib.error.HTTPError as error:
                got = error.code
            assert got == status, path
    finally:
        assert checked.stop() == 0


def test_chromium_shows_it(cloud, tmp_path):
    busy = [http.client.HTTPConnection(cloud.url.removeprefix("http://")) for _ in range(3)]
    for link in busy:
        link.request("POST", "/endpoints/e/invocations", b'{"do": "slow", "s": 80}')
    browser = Browser(tmp_path)
    try:
        browser.show(cloud.url + "/", "document.body.innerText.includes('3 in flight')")
        dom, picture = browser.run("document.documentElement.outerHTML"), tmp_path / "status-page.png"
        browser.screenshot(picture)
    finally:
        browser.close()
        for link in busy:
            link.close()
    assert picture.stat().st_size > 20_000
    assert 'data-live="yes"' in dom and "InService" in dom and "3 in flight" in dom and "minimum capacity was set to 2" in dom
    assert "surge &lt;img src=x&gt;: target 5" in dom and "<img" not in dom
    assert 'class="curve"' in dom and 'class="rule"' in dom
