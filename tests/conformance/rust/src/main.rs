// InvokeEndpointWithBidirectionalStream through the AWS SDK for Rust: bidi URL ENDPOINT. Prints a line per step.
use aws_sdk_sagemakerruntimehttp2::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sagemakerruntimehttp2::error::ProvideErrorMetadata;
use aws_sdk_sagemakerruntimehttp2::primitives::Blob;
use aws_sdk_sagemakerruntimehttp2::types::error::RequestStreamEventError;
use aws_sdk_sagemakerruntimehttp2::types::{RequestPayloadPart, RequestStreamEvent, ResponseStreamEvent};
use aws_sdk_sagemakerruntimehttp2::{Client, Config};
use aws_smithy_http_client::tls;

fn client(url: &str, secret: &str) -> Client {
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring))
        .build_https();
    Client::from_conf(
        Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(url)
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("AKID", secret, None, None, "test"))
            .http_client(http)
            .build(),
    )
}

fn part(text: &str) -> Result<RequestStreamEvent, RequestStreamEventError> {
    Ok(RequestStreamEvent::PayloadPart(
        RequestPayloadPart::builder()
            .bytes(Blob::new(text.as_bytes()))
            .data_type("UTF8")
            .completion_state("COMPLETE")
            .build(),
    ))
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (url, endpoint) = (&arguments[1], &arguments[2]);

    let (more, mut asked) = tokio::sync::mpsc::channel::<&'static str>(4);
    let input = async_stream::stream! {
        yield part(r#"{"text": "Hello there.", "request_id": "r1"}"#);
        while let Some(text) = asked.recv().await {
            yield part(text);
        }
    };
    let mut reply = client(url, "right")
        .invoke_endpoint_with_bidirectional_stream()
        .endpoint_name(endpoint)
        .body(input.into())
        .send()
        .await
        .expect("a stream");
    assert_eq!(reply.invoked_production_variant(), Some("AllTraffic"));
    let (mut spoken, mut bytes, mut more) = (0, 0, Some(more));
    while let Some(event) = reply.body.recv().await.expect("an event") {
        let ResponseStreamEvent::PayloadPart(part) = event else { panic!("an unknown event") };
        let data = part.bytes().expect("bytes").as_ref();
        if part.data_type() == Some("BINARY") {
            bytes += data.len();
        } else if String::from_utf8_lossy(data).contains("synthesis_complete") {
            spoken += 1;
            if spoken == 1 {
                more.as_ref().unwrap().send(r#"{"text": "And again.", "request_id": "r2"}"#).await.unwrap();
            } else {
                more = None; // the end of the input
            }
        }
    }
    assert!(spoken == 2 && bytes > 10_000, "{spoken} spoken, {bytes} bytes");
    println!("ok bidirectional stream");

    let refused = client(url, "wrong")
        .invoke_endpoint_with_bidirectional_stream()
        .endpoint_name(endpoint)
        .body(async_stream::stream! { yield part("{}"); }.into())
        .send()
        .await
        .expect_err("a refusal");
    assert_eq!(refused.code(), Some("InvalidSignatureException"), "{refused:?}");
    println!("ok refused before the stream");
}
