//! Two doors that know each other talk, over every kind of network.

use borough_wire::handshake::Reason;

use super::*;
use crate::transport::tcp::TcpTransport;
use crate::transport::tls::TlsTransport;
use crate::transport::tls::authority::Authority;

async fn talk(dialer: Maker, acceptor: Maker) {
    let who = (dialer.who.clone(), acceptor.who.uid);
    let mut open = Open::with(acceptor, Ok(77)).await;
    let door = dialer.door();
    let mut here = door.dial(&open.address, Some(who.1), Lane::Messages, 5).await.unwrap();
    let mut there = open.entered().await;
    assert_eq!((here.peer.uid, &there.peer), (who.1, &who.0));
    for side in [&here, &there] {
        assert_eq!((side.lane, side.session, side.resume), (Lane::Messages, 5, 77));
        assert_eq!((side.frame_max, side.message_max), (256 * 1024, 8 * 1024 * 1024));
        assert_ne!(side.codecs, 0);
    }
    pass(&mut here, &mut there, 1).await;
    pass(&mut there, &mut here, 2).await;
    assert_eq!(open.door.refusals().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn two_doors_talk_over_memory() {
    let network = MemoryNetwork::new(1);
    talk(Maker::on(&network, A, 1), Maker::on(&network, B, 2)).await;
}

#[tokio::test]
async fn two_doors_talk_over_tcp_with_a_secret() {
    let maker = |uid| Maker {
        secret: Some(secret("0123456789abcdef")),
        ..Maker::new(TcpTransport, incarnation("127.0.0.1:0", uid))
    };
    talk(maker(1), maker(2)).await;
}

#[tokio::test]
async fn two_doors_talk_over_tls_with_a_secret() {
    let authority = Authority::new();
    let maker = |uid| Maker {
        secret: Some(secret("0123456789abcdef")),
        ..Maker::new(
            TlsTransport::new(Arc::new(TcpTransport), &authority.tls("127.0.0.1")).unwrap(),
            incarnation("127.0.0.1:0", uid),
        )
    };
    talk(maker(1), maker(2)).await;
}

#[tokio::test]
async fn a_connection_that_came_in_can_change_its_runtime() {
    let maker = |uid| Maker::new(TcpTransport, incarnation("127.0.0.1:0", uid));
    let mut open = Open::at(maker(2)).await;
    let mut here = maker(1).door().dial(&open.address, None, Lane::Control, 0).await.unwrap();
    let mut there = open.entered().await;
    here.stream.rehome().unwrap();
    there.stream.rehome().unwrap();
    pass(&mut here, &mut there, 1).await;
}

#[tokio::test(start_paused = true)]
async fn the_smaller_limits_hold() {
    let network = MemoryNetwork::new(1);
    let small = Limits { frame_max: 4096, message_max: 5000, ..Limits::default() };
    let open = Open::at(Maker { limits: small, ..Maker::on(&network, B, 2) }).await;
    let here = Maker::on(&network, A, 1).door().dial(&open.address, None, Lane::Control, 0).await.unwrap();
    assert_eq!((here.frame_max, here.message_max), (4096, 5000));
}

#[tokio::test(start_paused = true)]
async fn an_earlier_life_is_not_found() {
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    let dialer = Maker::on(&network, A, 1).door();
    let error = dialer.dial(&open.address, Uid::new(99), Lane::Control, 0).await.err().unwrap();
    assert!(matches!(error, DialError::Refused { reason: Reason::NotMe, .. }), "{error}");
    open.turned_away(Refusal::NotMe, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_new_life_is_known_at_once() {
    let network = MemoryNetwork::new(1);
    let mut open = Open::at(Maker::on(&network, B, 2)).await;
    let dialer = Maker::on(&network, A, 1).door();
    open.door.myself.begin(Uid::new(3).unwrap());
    dialer.myself.begin(Uid::new(4).unwrap());
    let here = dialer.dial(&open.address, Uid::new(3), Lane::Control, 0).await.unwrap();
    assert_eq!((here.peer.uid.get(), open.entered().await.peer.uid.get()), (3, 4));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_dials_itself_is_told_so() {
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    let error = open.door.dial(&open.address, None, Lane::Control, 0).await.err().unwrap();
    assert!(matches!(error, DialError::Myself { .. }), "{error}");
    open.turned_away(Refusal::Myself, 1).await;
}

#[tokio::test(start_paused = true)]
async fn one_that_was_removed_does_not_come_in() {
    let network = MemoryNetwork::new(1);
    let open = Open::with(Maker::on(&network, B, 2), Err(NotAdmitted::Removed)).await;
    let dialer = Maker::on(&network, A, 1).door();
    let error = dialer.dial(&open.address, None, Lane::Control, 0).await.err().unwrap();
    assert!(matches!(error, DialError::Refused { reason: Reason::Removed, .. }), "{error}");
    open.turned_away(Refusal::Removed, 1).await;
}

#[tokio::test(start_paused = true)]
async fn there_is_a_seat_again_when_a_connection_is_dropped() {
    let network = MemoryNetwork::new(1);
    let limits = Limits { connections_max: 3, ..Limits::default() };
    let mut open = Open::at(Maker { limits, ..Maker::on(&network, B, 2) }).await;
    let dialer = Maker::on(&network, A, 1).door();
    let mut entered = Vec::new();
    for _ in 0..3 {
        dialer.dial(&open.address, None, Lane::Control, 0).await.unwrap();
        entered.push(open.entered().await);
    }
    let error = dialer.dial(&open.address, None, Lane::Control, 0).await.err().unwrap();
    assert!(matches!(error, DialError::Refused { reason: Reason::TooMany, .. }), "{error}");
    open.turned_away(Refusal::TooMany, 1).await;
    entered.pop();
    dialer.dial(&open.address, None, Lane::Control, 0).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dial_into_a_cut_network_ends_in_time() {
    let network = MemoryNetwork::new(1);
    let open = Open::at(Maker::on(&network, B, 2)).await;
    network.cut(&Address::new(A), &Address::new(B));
    let start = tokio::time::Instant::now();
    let dialer = Maker::on(&network, A, 1).door();
    let error = dialer.dial(&open.address, None, Lane::Control, 0).await.err().unwrap();
    assert!(matches!(error, DialError::TimedOut { .. }), "{error}");
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_dial_to_nobody_is_unreachable() {
    let network = MemoryNetwork::new(1);
    let dialer = Maker::on(&network, A, 1).door();
    let error = dialer.dial(&Address::new(B), None, Lane::Control, 0).await.err().unwrap();
    assert!(matches!(error, DialError::Unreachable { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_node_is_told_from_one() {
    let network = MemoryNetwork::new(1);
    let transport = network.transport(Address::new(B));
    let mut listener = transport.bind(&Address::new(B)).await.unwrap();
    let dialer = Maker::on(&network, A, 1).door();
    let to = Address::new(B);
    let web_server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        stream
    };
    let (outcome, _stream) = tokio::join!(dialer.dial(&to, None, Lane::Control, 0), web_server);
    let error = outcome.err().unwrap();
    assert!(matches!(error, DialError::NotBorough { .. }), "{error}");
}
