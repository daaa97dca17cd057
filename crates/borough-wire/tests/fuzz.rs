//! Every decoder under mutated seeds, with an eye on what it allocates.
//!
//! A second for each by default; `BOROUGH_FUZZ_SECONDS=10` for longer. The inputs are the same in every run, as far as it gets.

mod mutation;

use std::time::{Duration, Instant};

use borough_wire::codec::CodecId;
use borough_wire::frame::{Frame, Trace, put_chunks, put_tell};
use borough_wire::fuzz::{self, SIZES};
use borough_wire::handshake::{Reason, Refusal};
use mutation::Mutation;

/// A decoder, its seeds, and what it may allocate: so much, and so much for each byte given.
struct Target {
    decode: fn(&[u8]) -> bool,
    seeds: Vec<Vec<u8>>,
    bytes_max: usize,
    bytes_each: usize,
}

/// Shows the input if the decoder panics on it.
struct Shown<'a>(&'a [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the input: {}", self.0.escape_ascii());
        }
    }
}

fn run(target: &Target) {
    let seconds = std::env::var("BOROUGH_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut mutation = Mutation::new(0x0b0_0b0);
    let (mut taken, mut refused) = (0_u64, 0_u64);
    for seed in &target.seeds {
        assert!((target.decode)(seed), "the seed is good: {}", seed.escape_ascii());
    }
    while Instant::now() < until {
        let input = mutation.of(&target.seeds);
        let shown = Shown(&input);
        let mut outcome = false;
        let allocated = allocation_counter::measure(|| outcome = (target.decode)(&input));
        let most = target.bytes_max + target.bytes_each * input.len();
        assert!(allocated.bytes_max <= most as u64, "{allocated:?} for {} bytes", input.len());
        drop(shown);
        *(if outcome { &mut taken } else { &mut refused }) += 1;
    }
    assert!(taken > 100 && refused > 100, "the inputs are one-sided: {taken} taken, {refused} refused");
}

/// Frames of every kind, with their lengths.
fn frames() -> Vec<Vec<u8>> {
    let (codec, body) = (CodecId::Postcard, b"body".as_slice());
    let trace = Some(Trace { id: [1; 16], span: [2; 8], flags: 1 });
    let frames = [
        Frame::Tell { target: 1, codec, trace: None, body },
        Frame::Tell { target: 1, codec: CodecId::Json, trace, body },
        Frame::Ask { target: 2, ask: 3, codec, deadline: Some(5000), trace, body },
        Frame::Answer { ask: 4, codec: CodecId::MessagePack, body },
        Frame::Lost { ask: 5, why: 6 },
        Frame::Interrupt { target: 7, what: 8 },
        Frame::Watch { target: 9, watch: 10 },
        Frame::Unwatch { target: 11, watch: 12 },
        Frame::Terminated { watch: 13, reason: 0xff },
        Frame::LookUp { request: 14, type_name: "shop::Order", path: "/orders" },
        Frame::Found { request: 15, outcome: 1, target: 16, text: "here" },
        Frame::Chunk { last: true, body: b"\x0c\0\x01\0\0\0\0\0\0\0" },
        Frame::Ack { position: 17 },
        Frame::Control { body },
    ];
    let bytes = |frame: &Frame<'_>| {
        let mut out = Vec::new();
        frame.put(&mut out).expect("a good frame");
        out
    };
    frames.iter().map(bytes).collect()
}

#[test]
fn frames_bear_any_bytes() {
    let seeds = frames().into_iter().map(|mut frame| frame.split_off(4)).collect();
    run(&Target { decode: fuzz::frame, seeds, bytes_max: 256, bytes_each: 4 });
}

#[test]
fn the_buffer_bears_any_bytes() {
    let mut seeds: Vec<_> = frames().into_iter().map(|frame| [vec![3], frame].concat()).collect();
    seeds.push([vec![9], frames().concat()].concat());
    run(&Target { decode: fuzz::buffer, seeds, bytes_max: 600 * 1024, bytes_each: 32 });
}

#[test]
fn the_assembler_bears_any_bytes() {
    let mut large = Vec::new();
    put_tell(&mut large, 1, CodecId::Postcard, &[7; 9000]);
    let mut seeds = frames();
    for frame_max in [4096, 700] {
        let mut chunks = Vec::new();
        put_chunks(&mut chunks, &large[4..], frame_max);
        seeds.push(chunks);
    }
    let bytes_max = 300 * 1024 + 4 * SIZES.message_max;
    run(&Target { decode: fuzz::assembler, seeds, bytes_max, bytes_each: 4 });
}

/// What the dialer and the acceptor of the seeds send each other.
fn handshake() -> (Vec<u8>, Vec<u8>) {
    let (mut dialer, hello) = fuzz::dialer();
    let mut acceptor = fuzz::acceptor();
    let (mut from_dialer, mut from_acceptor) = (hello.clone(), Vec::new());
    assert!(acceptor.step(&hello, &mut from_acceptor).expect("a good hello").is_none());
    let mut proof = Vec::new();
    dialer.step(&from_acceptor, &mut proof).expect("a good challenge");
    from_dialer.extend_from_slice(&proof);
    let proven = acceptor.step(&proof, &mut Vec::new()).expect("a good proof").expect("it is proven");
    proven.accept(1, SIZES, &mut from_acceptor);
    (from_dialer, from_acceptor)
}

#[test]
fn the_acceptor_bears_any_bytes() {
    let seeds = vec![handshake().0];
    run(&Target { decode: fuzz::handshake_acceptor, seeds, bytes_max: 16 * 1024, bytes_each: 8 });
}

#[test]
fn the_dialer_bears_any_bytes() {
    let mut refused = Vec::new();
    Refusal::from(Reason::Busy).put(&mut refused);
    assert!(!fuzz::handshake_dialer(&refused), "it is refused");
    let seeds = vec![handshake().1];
    run(&Target { decode: fuzz::handshake_dialer, seeds, bytes_max: 16 * 1024, bytes_each: 8 });
}

fn rich(codec: CodecId) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    codec.encode(&fuzz::rich(), &mut out).expect("it encodes");
    vec![out]
}

#[test]
fn postcard_bears_any_bytes() {
    let seeds = rich(CodecId::Postcard);
    run(&Target { decode: fuzz::codec_postcard, seeds, bytes_max: 4096, bytes_each: 256 });
}

#[cfg(feature = "message-pack")]
#[test]
fn message_pack_bears_any_bytes() {
    let seeds = rich(CodecId::MessagePack);
    // A list may be given room for a megabyte on its word alone; serde goes no further.
    run(&Target { decode: fuzz::codec_message_pack, seeds, bytes_max: 3 << 20, bytes_each: 256 });
}

#[cfg(feature = "json")]
#[test]
fn json_bears_any_bytes() {
    let seeds = rich(CodecId::Json);
    run(&Target { decode: fuzz::codec_json, seeds, bytes_max: 4096, bytes_each: 256 });
}
