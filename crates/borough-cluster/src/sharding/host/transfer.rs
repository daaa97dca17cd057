//! A shard on its way to another node, in bytes.
//!
//! ```text
//! version u8 | epoch of the sender u64 | codec of the type u8 | entity ... | digest of all before u64
//! entity    length of id u8 | id | has state u8 | state if so | stashed | timers | waiting
//! state     length u32 | in the codec of the type
//! stashed, waiting   count u32 | message ...
//! timers    count u32 | (length of key u32 | key | milliseconds left u64 | message) ...
//! message   is ask u8 | milliseconds left u64 (all ones: no end known) | length u32 | body, in the codec of the type
//! ```
//! Numbers have the least byte first. It is cut into parts of at most 192 KiB. Promise: what is read was written whole by a host of the shard, or
//! it is refused; bytes of a peer never make more than they are themselves.

use std::sync::Arc;
use std::time::Duration;

use borough_actor::remote::{Carrier, Message, decode_as, within};
use borough_actor::resident::{self, AskId, SystemRef};
use borough_actor::{Actor, EntityId, TimerKey};
use borough_protocol::sharding::Epoch;
use borough_wire::codec::CodecId;

use super::busy::{Doing, Waits};
use super::floor::Home;
use super::settings::Migration;
use super::table::Body;
use super::turns::Turns;

const VERSION: u8 = 1;
/// How large a part is at the most.
pub(super) const PART: usize = 192 * 1024;
/// How many bytes of one shard are taken in at the most.
pub(super) const WHOLE_MAX: usize = 1 << 30;
/// An ask whose end is not known here.
const NO_END: u64 = u64::MAX;
const DIGEST: usize = 8;
const HEAD: usize = 1 + 8 + 1;

/// One entity of a shard that moves.
pub(super) struct Carried<A: Actor> {
    pub(super) id: EntityId,
    pub(super) state: Option<A>,
    pub(super) stashed: Vec<Carry<A::Msg>>,
    pub(super) timers: Vec<(TimerKey, Duration, A::Msg)>,
    pub(super) waiting: Vec<Carry<A::Msg>>,
}

/// A message, and the ask that it is.
pub(super) type Carry<M> = (M, Option<AskId>);

/// Writes a shard that is frozen, for the node at the end of `carrier`; in words, why it cannot be.
pub(super) fn write<A: Actor, T: Turns<A>>(
    home: &Home<A, T>,
    migration: Option<&Migration<A>>,
    codec: CodecId,
    system: SystemRef<'_>,
    carrier: &Arc<dyn Carrier>,
) -> Result<Vec<Vec<u8>>, String>
where
    A::Msg: Message,
{
    let mut writer = Writer { out: Vec::new(), codec, system };
    writer.out.push(VERSION);
    writer.out.extend_from_slice(&home.epoch.get().to_le_bytes());
    writer.out.push(codec.number());
    let written =
        within(carrier, || home.table.taken().try_for_each(|slot| writer.entity(home, slot, migration)));
    written?;
    let mut out = writer.out;
    let digest = digest(&out);
    out.extend_from_slice(&digest.to_le_bytes());
    Ok(out.chunks(PART).map(<[u8]>::to_vec).collect())
}

struct Writer<'a> {
    out: Vec<u8>,
    codec: CodecId,
    system: SystemRef<'a>,
}

impl Writer<'_> {
    fn entity<A: Actor, T: Turns<A>>(
        &mut self,
        home: &Home<A, T>,
        slot: u32,
        migration: Option<&Migration<A>>,
    ) -> Result<(), String>
    where
        A::Msg: Message,
    {
        let place = home.table.peek(slot);
        let (actor, waiting) = match &place.body {
            Body::Live(actor) => (Some(actor), None),
            Body::Busy(busy) => match &busy.doing {
                Doing::Idle(actor) => (Some(actor), Some(&busy.queue)),
                Doing::Turn(_) | Doing::Lent => return Err(format!("{} is in its turn", place.id)),
                Doing::Rest | Doing::Ended => (None, Some(&busy.queue)),
            },
            Body::Vacant | Body::Lent => return Ok(()),
        };
        place.id.with_bytes(|id| {
            self.out.push(u8::try_from(id.len()).unwrap_or(u8::MAX));
            self.out.extend_from_slice(id);
        });
        let state = actor.zip(migration);
        self.out.push(u8::from(state.is_some()));
        if let Some((actor, migration)) = state {
            let codec = self.codec;
            let capture = |out: &mut Vec<u8>| resident::catch(|| (migration.capture)(actor, codec, out));
            let captured = self.sized(|out| capture(out).unwrap_or_else(|fault| Err(fault.to_string())));
            captured.map_err(|why| format!("the state of {} cannot be written: {why}", place.id))?;
        }
        let owned = home.table.owned.get(&slot).filter(|_| state.is_some());
        let stashed = owned.iter().flat_map(|owned| owned.belongings.stashed());
        self.messages(stashed)?;
        // Those that came with it and were not set yet, because it has not arrived yet, are its timers too.
        let unset = waiting.filter(|_| state.is_some()).into_iter().flatten().flat_map(|waits| match waits {
            Waits::Timers(timers) => timers.as_slice(),
            _ => &[],
        });
        let unset = unset.map(|(key, left, message)| (key, *left, message));
        self.counted(
            owned.iter().flat_map(|owned| owned.belongings.timers()).chain(unset),
            |writer, (key, left, message)| {
                writer.sized(|out| {
                    let written =
                        postcard::to_extend(key, std::mem::take(out)).map_err(|error| error.to_string())?;
                    *out = written;
                    Ok(())
                })?;
                writer.out.extend_from_slice(&millis(left).to_le_bytes());
                writer.message(message, None)
            },
        )?;
        self.messages(waiting.into_iter().flatten().filter_map(|waits| match waits {
            Waits::Message(message, ask) => Some((message, *ask)),
            Waits::Last(message) => Some((message, None)),
            Waits::Adapted(..)
            | Waits::Arrived
            | Waits::Wake
            | Waits::Terminated(_)
            | Waits::Timers(_)
            | Waits::Fault(_)
            | Waits::End(_) => None,
        }))
    }

    fn messages<'a, M: Message>(
        &mut self,
        messages: impl Iterator<Item = (&'a M, Option<AskId>)>,
    ) -> Result<(), String> {
        self.counted(messages, |writer, (message, ask)| writer.message(message, ask))
    }

    fn counted<I>(
        &mut self,
        items: impl Iterator<Item = I>,
        mut write: impl FnMut(&mut Self, I) -> Result<(), String>,
    ) -> Result<(), String> {
        let at = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        let mut count = 0_u32;
        for item in items {
            write(self, item)?;
            count += 1;
        }
        self.out[at..at + 4].copy_from_slice(&count.to_le_bytes());
        Ok(())
    }

    fn message<M: Message>(&mut self, message: &M, ask: Option<AskId>) -> Result<(), String> {
        let left = ask.and_then(|ask| resident::time_left(self.system, ask)).map_or(NO_END, millis);
        self.out.push(u8::from(ask.is_some()));
        self.out.extend_from_slice(&left.to_le_bytes());
        let codec = self.codec;
        self.sized(|out| {
            let encoded = resident::catch(|| codec.encode(message, out));
            encoded.map_err(|fault| fault.to_string())?.map_err(|error| error.to_string())
        })
    }

    /// Writes something behind its length.
    fn sized(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), String>) -> Result<(), String> {
        let at = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        write(&mut self.out)?;
        let length = self.out.len() - at - 4;
        let length = u32::try_from(length).map_err(|_| format!("it takes {length} bytes"))?;
        self.out[at..at + 4].copy_from_slice(&length.to_le_bytes());
        Ok(())
    }
}

fn millis(left: Duration) -> u64 {
    u64::try_from(left.as_millis()).unwrap_or(NO_END - 1).min(NO_END - 1)
}

/// The epoch by which the sender of a transfer owned the shard, from its first part.
pub(super) fn epoch_of(first: &[u8]) -> Option<Epoch> {
    let (version, rest) = first.split_first()?;
    let epoch = rest.first_chunk()?;
    (*version == VERSION).then_some(Epoch::new(u64::from_le_bytes(*epoch)))
}

/// Reads a whole shard, as it came by `carrier`; in words, why it cannot be.
pub(super) fn read<A: Actor>(
    bytes: &[u8],
    migration: Option<&Migration<A>>,
    codec: CodecId,
    system: SystemRef<'_>,
    carrier: &Arc<dyn Carrier>,
) -> Result<Vec<Carried<A>>, String>
where
    A::Msg: Message,
{
    let cut_short = || "it is cut short".to_owned();
    let (content, sum) = bytes.split_last_chunk::<DIGEST>().ok_or_else(cut_short)?;
    if digest(content) != u64::from_le_bytes(*sum) {
        return Err("its digest is wrong".to_owned());
    }
    let (head, rest) = content.split_at_checked(HEAD).ok_or_else(cut_short)?;
    if head[HEAD - 1] != codec.number() {
        return Err(format!("it is in the codec of number {}, and the type in {codec}", head[HEAD - 1]));
    }
    let mut reader = Reader { rest, codec, system };
    within(carrier, || {
        decode_as(codec);
        let mut entities = Vec::new();
        while !reader.rest.is_empty() {
            entities.push(reader.entity(migration)?);
        }
        Ok(entities)
    })
}

struct Reader<'a> {
    rest: &'a [u8],
    codec: CodecId,
    system: SystemRef<'a>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or("it is cut short")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or("it is cut short")?;
        self.rest = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        self.array().map(|[byte]| byte)
    }

    fn sized(&mut self) -> Result<&'a [u8], String> {
        let length = u32::from_le_bytes(self.array()?);
        self.take(length as usize)
    }

    fn entity<A: Actor>(&mut self, migration: Option<&Migration<A>>) -> Result<Carried<A>, String>
    where
        A::Msg: Message,
    {
        let length = self.byte()?;
        let id = EntityId::new(self.take(usize::from(length))?).map_err(|error| error.to_string())?;
        let state = match (self.byte()?, migration) {
            (0, _) => None,
            (_, Some(migration)) => {
                let (bytes, codec) = (self.sized()?, self.codec);
                let read = resident::catch(|| (migration.install)(&id, codec, bytes))
                    .map_err(|fault| fault.to_string());
                Some(
                    read.and_then(|read| read)
                        .map_err(|why| format!("the state of {id} cannot be read: {why}"))?,
                )
            }
            (_, None) => return Err("it has states, and the type does not migrate here".to_owned()),
        };
        let stashed = self.messages()?;
        let timers = self.counted(|reader| {
            let key = postcard::from_bytes(reader.sized()?).map_err(|error| error.to_string())?;
            let left = Duration::from_millis(u64::from_le_bytes(reader.array()?));
            Ok((key, left, reader.message()?.0))
        })?;
        Ok(Carried { id, state, stashed, timers, waiting: self.messages()? })
    }

    fn counted<I>(&mut self, mut read: impl FnMut(&mut Self) -> Result<I, String>) -> Result<Vec<I>, String> {
        let count = u32::from_le_bytes(self.array()?);
        // Not made room for: the count is a peer's word.
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn messages<M: Message>(&mut self) -> Result<Vec<Carry<M>>, String> {
        self.counted(Self::message)
    }

    fn message<M: Message>(&mut self) -> Result<Carry<M>, String> {
        let is_ask = self.byte()? != 0;
        let left = u64::from_le_bytes(self.array()?);
        let left = if left == NO_END { Duration::MAX } else { Duration::from_millis(left) };
        let (body, codec) = (self.sized()?, self.codec);
        let decoded = resident::decoding(|| codec.decode(body)).map_err(|fault| fault.to_string())?;
        let message = decoded.map_err(|error| error.to_string())?;
        Ok((message, is_ask.then(|| resident::ask_from_abroad(self.system, left))))
    }
}

/// The same on every node.
fn digest(bytes: &[u8]) -> u64 {
    let mut digest = 0x9E37_79B9_7F4A_7C15 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let wide = u128::from(digest ^ u64::from_le_bytes(word)) * 0xD6E8_FEB8_6659_FD93;
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let folded = wide as u64 ^ (wide >> 64) as u64;
        digest = folded.rotate_left(23) ^ 0xA076_1D64_78BD_642F;
    }
    digest
}
