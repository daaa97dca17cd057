//! A1: telling.

use borough_actor::System;

use crate::support::{Record, Recorder};

#[tokio::test]
async fn messages_of_one_sender_are_handled_in_order() {
    let system = System::new("test").unwrap();
    let recorder = system.spawn(Recorder::default);
    for n in 0..10_000 {
        recorder.tell(Record::Note(n)).await.unwrap();
    }
    assert_eq!(recorder.ask(Record::Notes).await.unwrap(), (0..10_000).collect::<Vec<_>>());
}
