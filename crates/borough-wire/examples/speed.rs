//! What a frame costs, out and in: `cargo run --release -p borough-wire --example speed`.
//!
//! One core, a 64-byte payload, frames in batches of 64 KiB; the best of many short rounds, so that a busy machine disturbs little.

use std::hint::black_box;
use std::time::Instant;

use borough_wire::codec::{Codec, CodecId, Postcard};
use borough_wire::frame::{Assembler, Frame, FrameBuffer, Open, put_tell};
use borough_wire::limits::{FRAME_MAX, MESSAGE_MAX, Sizes};
use serde::{Deserialize, Serialize};

const FRAMES: u64 = 20_000;
const ROUNDS: usize = 300;
const BATCH: usize = 64 * 1024;

/// What the benchmarks send between nodes.
#[derive(Serialize, Deserialize)]
enum Message {
    Item { number: u64, first: [u8; 32], second: [u8; 32] },
}

fn message(number: u64) -> Message {
    Message::Item { number, first: [1; 32], second: [2; 32] }
}

fn main() {
    let body = [7; 64];
    report("put_tell, 64 bytes", || {
        fill(|out, number| put_tell(out, number, CodecId::Postcard, &body));
    });
    report("Open::tell, postcard, close", || {
        fill(|out, number| {
            let open = Open::tell(out, number, CodecId::Postcard, None);
            Postcard::encode(&message(number), out).expect("it encodes");
            open.close(out, Sizes::default()).expect("it fits");
        });
    });
    report("postcard alone, our flavor", || {
        fill(|out, number| Postcard::encode(&message(number), out).expect("it encodes"));
    });
    report("postcard alone, to_extend", || {
        fill(|out, number| {
            *out = postcard::to_extend(&message(number), std::mem::take(out)).expect("it encodes");
        });
    });

    let mut batch = Vec::new();
    while batch.len() < BATCH {
        put_tell(&mut batch, 3, CodecId::Postcard, &body);
    }
    report("FrameBuffer::next", || read(&batch, |_| {}));

    let mut batch = Vec::new();
    while batch.len() < BATCH {
        let open = Open::tell(&mut batch, 3, CodecId::Postcard, None);
        Postcard::encode(&message(5), &mut batch).expect("it encodes");
        open.close(&mut batch, Sizes::default()).expect("it fits");
    }
    report("FrameBuffer::next, postcard", || {
        read(&batch, |body| {
            black_box(CodecId::Postcard.decode::<Message>(body).expect("it decodes"));
        });
    });
}

fn report(what: &str, mut round: impl FnMut()) {
    let best = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        round();
        started.elapsed()
    });
    let best = best.min().expect("some rounds");
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let each = best.as_nanos() as f64 / FRAMES as f64;
    println!("{what:32} {each:6.1} ns, {:6.1} million a second", 1000.0 / each);
}

/// Writes all frames, sending a batch off whenever it is full.
fn fill(mut put: impl FnMut(&mut Vec<u8>, u64)) {
    let mut out = Vec::with_capacity(2 * BATCH);
    for number in 0..FRAMES {
        put(&mut out, number);
        if out.len() >= BATCH {
            black_box(&out);
            out.clear();
        }
    }
}

/// Reads all frames, copying a batch in as a socket would.
fn read(batch: &[u8], mut each: impl FnMut(&[u8])) {
    let (mut buffer, mut assembler) = (FrameBuffer::new(FRAME_MAX), Assembler::new(MESSAGE_MAX));
    let mut left = FRAMES;
    while left > 0 {
        buffer.spare()[..batch.len()].copy_from_slice(batch);
        buffer.filled(batch.len());
        while let Some(frame) = buffer.next().expect("good frames") {
            if let Some(Frame::Tell { target, body, .. }) = assembler.take(frame).expect("no chunks") {
                black_box(target);
                each(black_box(body));
            }
            left = left.saturating_sub(1);
        }
    }
}
