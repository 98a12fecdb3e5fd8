#!/usr/bin/env bash
# The life of an endpoint through the AWS CLI: life.sh URL NAME; $AWS is the program. Prints a line per step.
set -euo pipefail
name="$2"
export AWS_ENDPOINT_URL="$1" AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=right AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_MAX_ATTEMPTS=1 AWS_PAGER=
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
aws() { "$AWS" --output text "$@"; }
refused() { # WORD COMMAND...
  local word="$1" said; shift
  if said=$(aws "$@" 2>&1); then echo "not refused: $*" >&2; exit 1; fi
  grep -q "$word" <<<"$said" || { echo "refused otherwise: $said" >&2; exit 1; }
}
wait_for() { # COUNT
  for _ in $(seq 100); do
    [ "$(aws sagemaker describe-endpoint --endpoint-name "$name" --query '[EndpointStatus,ProductionVariants[0].CurrentInstanceCount]')" = "$(printf 'InService\t%s' "$1")" ] && return
    sleep 0.2
  done
  echo "never InService with $1" >&2; exit 1
}
aws sagemaker create-model --model-name "$name" --primary-container 'Image=image:1,Environment={TTS_ENGINE=paced,TTS_SERVICE_MS=20}' >/dev/null
aws sagemaker create-endpoint-config --endpoint-config-name "$name" --production-variants "VariantName=AllTraffic,ModelName=$name,InstanceType=ml.g5.xlarge,InitialInstanceCount=1" >/dev/null
aws sagemaker create-endpoint --endpoint-name "$name" --endpoint-config-name "$name" >/dev/null
wait_for 1
refused "already existing" sagemaker create-endpoint --endpoint-name "$name" --endpoint-config-name "$name"
echo "ok create"
out="$(mktemp)"; trap 'rm -f "$out"' EXIT
aws sagemaker-runtime invoke-endpoint --endpoint-name "$name" --content-type application/json --body "$(printf '{"text":"Hello."}' | base64 -w0)" "$out" >/dev/null 2>&1 ||
  aws sagemaker-runtime invoke-endpoint --endpoint-name "$name" --content-type application/json --body '{"text":"Hello."}' "$out" >/dev/null
[ "$(head -c 4 "$out")" = RIFF ]
refused ModelError sagemaker-runtime invoke-endpoint --endpoint-name "$name" --content-type application/json --body '{}' "$out"
echo "ok invoke"
id=(--service-namespace sagemaker --resource-id "endpoint/$name/variant/AllTraffic" --scalable-dimension sagemaker:variant:DesiredInstanceCount)
aws application-autoscaling register-scalable-target "${id[@]}" --min-capacity 2 --max-capacity 3 >/dev/null
aws application-autoscaling put-scaling-policy "${id[@]}" --policy-name p --policy-type StepScaling --step-scaling-policy-configuration \
  'AdjustmentType=ChangeInCapacity,Cooldown=300,StepAdjustments=[{MetricIntervalUpperBound=0,ScalingAdjustment=-1}]' >/dev/null
wait_for 2
aws application-autoscaling describe-scaling-activities --service-namespace sagemaker --query 'ScalingActivities[0].Cause' | grep -q "minimum capacity"
refused ObjectNotFoundException application-autoscaling delete-scaling-policy "${id[@]}" --policy-name none
echo "ok scale"
arn="$(aws application-autoscaling put-scaling-policy "${id[@]}" --policy-name up --policy-type StepScaling --query PolicyARN --step-scaling-policy-configuration \
  'AdjustmentType=ChangeInCapacity,StepAdjustments=[{MetricIntervalLowerBound=0,ScalingAdjustment=1}]')"
aws cloudwatch put-metric-alarm --alarm-name up --namespace n --metric-name load --period 60 --statistic Average --evaluation-periods 1 --threshold 1 \
  --comparison-operator GreaterThanThreshold --alarm-actions "$arn"
aws cloudwatch set-alarm-state --alarm-name up --state-value ALARM --state-reason "a trial"
wait_for 3
aws application-autoscaling describe-scaling-activities --service-namespace sagemaker --query 'ScalingActivities[].Cause' | grep -q "monitor alarm up in state ALARM triggered policy up"
aws cloudwatch describe-alarm-history --alarm-name up --query 'AlarmHistoryItems[].HistorySummary' | grep -q "to ALARM"
aws cloudwatch delete-alarms --alarm-names up
echo "ok alarm"
aws cloudwatch put-metric-alarm --alarm-name a --namespace n --metric-name m --period 60 --statistic Sum --evaluation-periods 1 --threshold 1 --comparison-operator GreaterThanThreshold
[ "$(aws cloudwatch describe-alarms --alarm-names a --query 'MetricAlarms[0].Threshold')" = 1.0 ]
aws cloudwatch put-metric-data --namespace n --metric-name m --value 3
aws cloudwatch list-metrics --namespace n --query 'Metrics[0].MetricName' | grep -qx m
aws cloudwatch delete-alarms --alarm-names a
echo "ok metrics"
aws logs filter-log-events --log-group-name "/aws/sagemaker/Endpoints/$name" --filter-pattern '"STAGE ready"' --query 'events[0].message' | grep -q ready
aws service-quotas get-service-quota --service-code sagemaker --quota-code L-1928E07B --query Quota.QuotaName | grep -q g5
aws sts get-caller-identity --query Account | grep -q 000000000000
echo "ok logs and quotas"
aws application-autoscaling deregister-scalable-target "${id[@]}"
aws sagemaker delete-endpoint --endpoint-name "$name"
for _ in $(seq 100); do [ -z "$(aws sagemaker list-endpoints --query 'Endpoints[].EndpointName')" ] && break; sleep 0.2; done
aws sagemaker delete-endpoint-config --endpoint-config-name "$name"
aws sagemaker delete-model --model-name "$name"
refused "Could not find" sagemaker describe-endpoint --endpoint-name "$name"
echo "ok delete"
