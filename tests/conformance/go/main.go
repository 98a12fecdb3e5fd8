// The life of an endpoint through the AWS SDK for Go v2: life URL NAME. Prints a line per step.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/applicationautoscaling"
	aat "github.com/aws/aws-sdk-go-v2/service/applicationautoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwt "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sagemaker"
	smt "github.com/aws/aws-sdk-go-v2/service/sagemaker/types"
	"github.com/aws/aws-sdk-go-v2/service/sagemakerruntime"
	rtt "github.com/aws/aws-sdk-go-v2/service/sagemakerruntime/types"
	"github.com/aws/smithy-go"
)

var ctx = context.Background()

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(good bool, what string) {
	if !good {
		must(errors.New(what))
	}
}

func refused(err error, code string) {
	var api smithy.APIError
	check(err != nil && errors.As(err, &api) && api.ErrorCode() == code, fmt.Sprintf("not refused with %s: %v", code, err))
}

func step(text string) { fmt.Println("ok " + text) }

func main() {
	url, name := os.Args[1], os.Args[2]
	config := aws.Config{
		Region:           "us-east-1",
		BaseEndpoint:     aws.String(url),
		RetryMaxAttempts: 1,
		Credentials:      credentials.NewStaticCredentialsProvider("AKID", "right", ""),
	}
	sm, rt := sagemaker.NewFromConfig(config), sagemakerruntime.NewFromConfig(config)
	aas, cw := applicationautoscaling.NewFromConfig(config), cloudwatch.NewFromConfig(config)
	inService := func(count int32) {
		for i := 0; i < 600; i++ {
			e, err := sm.DescribeEndpoint(ctx, &sagemaker.DescribeEndpointInput{EndpointName: &name})
			must(err)
			check(e.EndpointStatus != smt.EndpointStatusFailed, aws.ToString(e.FailureReason))
			if e.EndpointStatus == smt.EndpointStatusInService && aws.ToInt32(e.ProductionVariants[0].CurrentInstanceCount) == count {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		check(false, "never InService")
	}

	_, err := sm.CreateModel(ctx, &sagemaker.CreateModelInput{ModelName: &name, PrimaryContainer: &smt.ContainerDefinition{
		Image: aws.String("image:1"), Environment: map[string]string{"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "20"}}})
	must(err)
	_, err = sm.CreateEndpointConfig(ctx, &sagemaker.CreateEndpointConfigInput{EndpointConfigName: &name,
		ProductionVariants: []smt.ProductionVariant{{VariantName: aws.String("AllTraffic"), ModelName: &name,
			InstanceType: smt.ProductionVariantInstanceTypeMlG5Xlarge, InitialInstanceCount: aws.Int32(1)}}})
	must(err)
	_, err = sm.CreateEndpoint(ctx, &sagemaker.CreateEndpointInput{EndpointName: &name, EndpointConfigName: &name})
	must(err)
	inService(1)
	_, err = sm.CreateEndpoint(ctx, &sagemaker.CreateEndpointInput{EndpointName: &name, EndpointConfigName: &name})
	refused(err, "ValidationException")
	step("create")

	json := aws.String("application/json")
	whole, err := rt.InvokeEndpoint(ctx, &sagemakerruntime.InvokeEndpointInput{EndpointName: &name, ContentType: json, Body: []byte(`{"text":"Hello."}`)})
	must(err)
	check(string(whole.Body[:4]) == "RIFF", "no WAV")
	_, err = rt.InvokeEndpoint(ctx, &sagemakerruntime.InvokeEndpointInput{EndpointName: &name, ContentType: json, Body: []byte(`{}`)})
	refused(err, "ModelError")
	step("invoke")
	reply, err := rt.InvokeEndpointWithResponseStream(ctx, &sagemakerruntime.InvokeEndpointWithResponseStreamInput{EndpointName: &name,
		ContentType: json, Body: []byte(`{"text":"Hello there.","format":"pcm","stream":true}`)})
	must(err)
	bytes := 0
	for event := range reply.GetStream().Events() {
		bytes += len(event.(*rtt.ResponseStreamMemberPayloadPart).Value.Bytes)
	}
	must(reply.GetStream().Err())
	check(bytes > 1000, "no audio")
	step("stream")

	resource := aws.String("endpoint/" + name + "/variant/AllTraffic")
	dimension := aat.ScalableDimensionSageMakerVariantDesiredInstanceCount
	_, err = aas.RegisterScalableTarget(ctx, &applicationautoscaling.RegisterScalableTargetInput{ServiceNamespace: aat.ServiceNamespaceSagemaker,
		ResourceId: resource, ScalableDimension: dimension, MinCapacity: aws.Int32(2), MaxCapacity: aws.Int32(3)})
	must(err)
	policy, err := aas.PutScalingPolicy(ctx, &applicationautoscaling.PutScalingPolicyInput{ServiceNamespace: aat.ServiceNamespaceSagemaker,
		ResourceId: resource, ScalableDimension: dimension, PolicyName: aws.String("p"), PolicyType: aat.PolicyTypeTargetTrackingScaling,
		TargetTrackingScalingPolicyConfiguration: &aat.TargetTrackingScalingPolicyConfiguration{TargetValue: aws.Float64(5),
			PredefinedMetricSpecification: &aat.PredefinedMetricSpecification{
				PredefinedMetricType: "SageMakerVariantConcurrentRequestsPerModelHighResolution"}}})
	must(err)
	check(len(policy.Alarms) >= 1, "no alarms")
	inService(2)
	activities, err := aas.DescribeScalingActivities(ctx, &applicationautoscaling.DescribeScalingActivitiesInput{ServiceNamespace: aat.ServiceNamespaceSagemaker})
	must(err)
	check(strings.Contains(*activities.ScalingActivities[0].Cause, "minimum capacity"), "no cause")
	_, err = aas.DeleteScalingPolicy(ctx, &applicationautoscaling.DeleteScalingPolicyInput{ServiceNamespace: aat.ServiceNamespaceSagemaker,
		ResourceId: resource, ScalableDimension: dimension, PolicyName: aws.String("none")})
	refused(err, "ObjectNotFoundException")
	step("scale")

	up, err := aas.PutScalingPolicy(ctx, &applicationautoscaling.PutScalingPolicyInput{ServiceNamespace: aat.ServiceNamespaceSagemaker,
		ResourceId: resource, ScalableDimension: dimension, PolicyName: aws.String("up"), PolicyType: aat.PolicyTypeStepScaling,
		StepScalingPolicyConfiguration: &aat.StepScalingPolicyConfiguration{AdjustmentType: aat.AdjustmentTypeChangeInCapacity,
			StepAdjustments: []aat.StepAdjustment{{MetricIntervalLowerBound: aws.Float64(0), ScalingAdjustment: aws.Int32(1)}}}})
	must(err)
	alarm := aws.String("up")
	_, err = cw.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{AlarmName: alarm, Namespace: aws.String("n"), MetricName: aws.String("load"),
		Statistic: cwt.StatisticAverage, Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1),
		ComparisonOperator: cwt.ComparisonOperatorGreaterThanThreshold, AlarmActions: []string{*up.PolicyARN}})
	must(err)
	_, err = cw.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{AlarmName: alarm, StateValue: cwt.StateValueAlarm, StateReason: aws.String("a trial")})
	must(err)
	inService(3)
	activities, err = aas.DescribeScalingActivities(ctx, &applicationautoscaling.DescribeScalingActivitiesInput{ServiceNamespace: aat.ServiceNamespaceSagemaker})
	must(err)
	caused := false
	for _, activity := range activities.ScalingActivities {
		caused = caused || *activity.Cause == "monitor alarm up in state ALARM triggered policy up"
	}
	check(caused, "no activity of the alarm")
	history, err := cw.DescribeAlarmHistory(ctx, &cloudwatch.DescribeAlarmHistoryInput{AlarmName: alarm})
	must(err)
	check(len(history.AlarmHistoryItems) >= 2 && history.AlarmHistoryItems[0].Timestamp != nil, "no history")
	_, err = cw.DeleteAlarms(ctx, &cloudwatch.DeleteAlarmsInput{AlarmNames: []string{*alarm}})
	must(err)
	step("alarm")

	var data []cwt.MetricDatum // CBOR, and compressed: the body is above 10 KB
	for i := 0; i < 500; i++ {
		data = append(data, cwt.MetricDatum{MetricName: aws.String("m"), Value: aws.Float64(float64(i)), Timestamp: aws.Time(time.Now())})
	}
	_, err = cw.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String("n"), MetricData: data})
	must(err)
	found, err := cw.GetMetricData(ctx, &cloudwatch.GetMetricDataInput{StartTime: aws.Time(time.Now().Add(-10 * time.Minute)),
		EndTime: aws.Time(time.Now().Add(time.Minute)), MetricDataQueries: []cwt.MetricDataQuery{{Id: aws.String("q"), MetricStat: &cwt.MetricStat{
			Metric: &cwt.Metric{Namespace: aws.String("n"), MetricName: aws.String("m")}, Period: aws.Int32(60), Stat: aws.String("SampleCount")}}}})
	must(err)
	sum := 0.0
	for _, value := range found.MetricDataResults[0].Values {
		sum += value
	}
	check(sum == 500, fmt.Sprint("counted ", sum))
	alarms, err := cw.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{})
	must(err)
	check(len(alarms.MetricAlarms) >= 1 && alarms.MetricAlarms[0].StateUpdatedTimestamp != nil, "no alarm")
	_, err = cw.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String("AWS/x"), MetricData: data[:1]})
	refused(err, "InvalidParameterValue") // of the query protocol: the header x-amzn-query-error says so
	step("metrics")

	_, err = aas.DeregisterScalableTarget(ctx, &applicationautoscaling.DeregisterScalableTargetInput{ServiceNamespace: aat.ServiceNamespaceSagemaker,
		ResourceId: resource, ScalableDimension: dimension})
	must(err)
	_, err = sm.DeleteEndpoint(ctx, &sagemaker.DeleteEndpointInput{EndpointName: &name})
	must(err)
	for {
		left, err := sm.ListEndpoints(ctx, &sagemaker.ListEndpointsInput{NameContains: &name})
		must(err)
		if len(left.Endpoints) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	_, err = sm.DescribeEndpoint(ctx, &sagemaker.DescribeEndpointInput{EndpointName: &name})
	refused(err, "ValidationException")
	step("delete")
}
