//! The end that holds the sink: decodes whatever has come, then answers all of it in one write.

use super::frames::Frames;
use super::{Answer, Request};
use crate::remote::Sink;

/// Serves until the client closes.
pub(super) async fn serve(mut frames: Frames) {
    let mut sink = Sink::default();
    while frames.fill().await {
        while let Some(request) = frames.pop() {
            match request {
                Request::Tell(item) => sink.accept(&item),
                Request::Ask(item) => frames.push(&Answer::Seq(sink.answer(&item))).await,
                Request::Total => frames.push(&Answer::Total(sink.total())).await,
            }
        }
        frames.flush().await;
    }
}
