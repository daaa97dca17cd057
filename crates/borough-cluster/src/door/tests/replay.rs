//! What was once said by one who may come in lets nobody else in.

use super::*;

/// Records a whole connection, and plays it to the same door again.
async fn replay(secret: Option<Secret>) {
    let network = MemoryNetwork::new(1);
    let mut open = Open::at(Maker { secret: secret.clone(), ..Maker::on(&network, B, 2) }).await;
    let below = Arc::new(network.transport(Address::new(A)));
    let tap = Tapped { below, sent: Arc::default() };
    let dialer = Maker { secret, ..Maker::new(tap.clone(), incarnation(A, 1)) }.door();
    let mut here = dialer.dial(&open.address, None, Lane::Messages, 1).await.unwrap();
    here.stream.write_all(b"frames").await.unwrap();
    let mut there = open.entered().await;
    let mut frames = [0; 6];
    there.stream.read_exact(&mut frames).await.unwrap();

    let recorded = tap.sent.lock().unwrap().clone();
    assert!(recorded.ends_with(b"frames"));
    let mut thief = stranger(&network, &open.address).await;
    thief.write_all(&recorded).await.unwrap();
    last_words(&mut thief).await;
    open.turned_away(Refusal::NotAuthenticated, 1).await;
    assert!(open.entered.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_recorded_connection_is_refused_with_a_secret() {
    replay(Some(secret("0123456789abcdef"))).await;
}

#[tokio::test(start_paused = true)]
async fn a_recorded_connection_is_refused_without_a_secret() {
    replay(None).await;
}
