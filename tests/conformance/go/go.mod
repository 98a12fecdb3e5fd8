module life

go 1.24

require (
	github.com/aws/aws-sdk-go-v2 v1.44.0
	github.com/aws/aws-sdk-go-v2/credentials v1.19.0
	github.com/aws/aws-sdk-go-v2/service/applicationautoscaling v1.42.0
	github.com/aws/aws-sdk-go-v2/service/cloudwatch v1.76.0
	github.com/aws/aws-sdk-go-v2/service/sagemaker v1.290.0
	github.com/aws/aws-sdk-go-v2/service/sagemakerruntime v1.50.4
)
