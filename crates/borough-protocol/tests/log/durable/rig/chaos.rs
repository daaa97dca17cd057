//! What goes wrong.

use borough_protocol::log::Log;

use super::super::voter::Voter;
use super::{COUNT, Event, Rig, TICK_MS};
use crate::carrier::{State, uid};

impl Rig {
    pub(super) fn make_trouble(&mut self) {
        let (a, b) = (self.any(), self.any());
        let victim = self.victim();
        match self.random.below(22) {
            0..=2 => self.crash(victim, 60),
            3 => self.crash(victim, 700),
            4 => self.crash_many(),
            5 => drop(self.cut.insert((a, b))),
            6 => self.cut.extend([(a, b), (b, a)]),
            7 => self.split(),
            8 | 9 => self.cut.clear(),
            10 => self.worsen(),
            11 => self.place(a).disk_ms = 300,
            12 => self.fill_disk(victim),
            13 => self.want(),
            14 | 15 => self.compact(victim),
            16 => self.stand_at_once(a, b),
            17..=20 => self.begin_duel(),
            _ => self.heal_network(),
        }
    }

    pub(super) fn heal_network(&mut self) {
        self.cut.clear();
        (self.lost_per_mille, self.doubled_per_mille, self.delay_ms) = (0, 0, (5, 30));
    }

    fn any(&mut self) -> u64 {
        self.random.between(1, COUNT)
    }

    /// Anybody; one time in two the coordinator.
    fn victim(&mut self) -> u64 {
        let any = self.any();
        let office = self.coordinator().map(|(number, _)| number);
        office.filter(|_| self.random.below(2) == 0).unwrap_or(any)
    }

    /// The process ends: of what was queued the first few writes may be on the disk, though nobody was told.
    pub(super) fn crash(&mut self, number: u64, pause_max: u64) {
        let share = self.random.below(4);
        let pause = self.random.between(1, pause_max);
        let place = self.place(number);
        let Some(mut voter) = place.voter.take() else { return };
        let queued = voter.queue.len() as u64;
        let made = if place.disk_full { 0 } else { queued * share / 3 };
        voter.write(usize::try_from(made).expect("few"));
        place.disk = voter.disk;
        (place.disk_busy, place.disk_full) = (false, false);
        place.life += 1;
        self.counts.crashes += 1;
        self.counts.writes_lost += queued - made;
        self.counts.writes_unreported += made;
        self.after(pause, Event::Restart(number));
    }

    pub(super) fn restart(&mut self, number: u64) {
        let (now, flaws) = (self.now, self.flaws);
        let place = self.place(number);
        let nothing = place.disk == super::Copy::default();
        // A founder that crashed before its first write was in office, so it founds again: nobody else has anything yet.
        let founds = number == 1 && nothing;
        let voter = match place.disk.clone() {
            _ if founds => Voter::founder(number, flaws, now),
            disk => Voter::of(number, flaws, disk),
        };
        place.voter = Some(voter);
        place.state = State::default();
        place.coordinator_heard = now;
        let life = place.life;
        self.settle(number, Vec::new());
        self.after(TICK_MS, Event::Tick { number, life });
    }

    fn crash_many(&mut self) {
        let which = self.random.between(1, (1 << COUNT) - 1);
        for number in (1..=COUNT).filter(|number| (which >> (number - 1)) & 1 == 1) {
            self.crash(number, 300);
        }
    }

    /// The coordinator goes, and by the time that all others have noticed, two stand.
    fn begin_duel(&mut self) {
        if let Some((number, _)) = self.coordinator() {
            self.crash(number, 700);
        }
        self.after(760, Event::Duel);
    }

    pub(super) fn duel(&mut self) {
        let a = self.any();
        let b = (a + self.random.below(COUNT - 1)) % COUNT + 1;
        self.stand_at_once(a, b);
        for number in (1..=COUNT).filter(|number| ![a, b].contains(number)) {
            let delay = self.random.between(20, 120);
            self.after(delay, Event::Blink(number));
        }
    }

    fn split(&mut self) {
        let sides = self.random.between(1, (1 << COUNT) - 2);
        let side = |number: u64| (sides >> (number - 1)) & 1;
        for a in 1..=COUNT {
            self.cut.extend((1..=COUNT).filter(|&b| side(a) != side(b)).map(|b| (a, b)));
        }
    }

    fn worsen(&mut self) {
        self.lost_per_mille = self.random.below(3) * self.random.below(150);
        self.doubled_per_mille = self.random.below(200);
        let low = self.random.between(1, 20);
        let spread = if self.random.below(3) == 0 { 600 } else { 80 };
        self.delay_ms = (low, low + self.random.between(1, spread));
    }

    /// Nothing more is written until the process is restarted, or the faults end.
    fn fill_disk(&mut self, number: u64) {
        let place = self.place(number);
        (place.disk_full, place.disk_busy) = (true, false);
        self.counts.full_disks += 1;
    }

    /// Other voters: one, three, four or five.
    fn want(&mut self) {
        let count = [1, 3, 3, 4, 5][usize::try_from(self.random.below(5)).expect("few")];
        let first = self.any();
        self.wanted = (0..count).map(|offset| uid((first + offset) % COUNT + 1)).collect();
    }

    fn compact(&mut self, number: u64) {
        let place = self.place(number);
        let Some(voter) = &mut place.voter else { return };
        voter.log.compact(place.state.version, place.state);
        self.settle(number, Vec::new());
    }

    fn stand_at_once(&mut self, a: u64, b: u64) {
        for number in [a, b] {
            let (now, mut out) = (self.now, Vec::new());
            let Some(voter) = self.place(number).voter.as_mut() else { continue };
            voter.log.stand(now, &mut out);
            self.settle(number, out);
        }
    }
}
