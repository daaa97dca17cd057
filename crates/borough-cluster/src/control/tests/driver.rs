//! The order in which a machine is told things.

use std::ops::ControlFlow;
use std::time::Duration;

use borough_protocol::time::Timestamp;
use borough_protocol::{Effects, Machine};
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::control::driver::{Driver, Heard, Inputs, Perform};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Command(u32),
    Word(u32),
    Deadline,
}

/// Writes down what it is told; ends with command 0.
struct Toy {
    told: Vec<Told>,
    deadline: Timestamp,
}

enum Want {
    End,
}

impl Machine for Toy {
    type Input = Told;
    type Effect = Want;

    fn handle(&mut self, now: Timestamp, input: Told, effects: &mut Effects<Want>) {
        match input {
            Told::Command(0) => effects.push(Want::End),
            Told::Deadline => self.deadline = now + Duration::from_secs(1),
            Told::Command(_) | Told::Word(_) => {}
        }
        self.told.push(input);
    }

    fn next_deadline(&self) -> Timestamp {
        self.deadline
    }

    fn assert_invariants(&self, _now: Timestamp) {}
}

/// Counts what goes out.
#[derive(Default)]
struct Hands {
    flushed: usize,
}

impl Perform<Toy> for Hands {
    type Outcome = &'static str;

    fn perform(&mut self, _machine: &Toy, Want::End: Want) -> ControlFlow<&'static str> {
        ControlFlow::Break("ended")
    }

    fn flush(&mut self, _machine: &Toy, _now: Timestamp) {
        self.flushed += 1;
    }
}

struct Rig {
    driver: Driver<Toy, Hands>,
    commands: (mpsc::Sender<Told>, mpsc::Receiver<Told>),
    heard: (mpsc::Sender<Heard<Told>>, mpsc::Receiver<Heard<Told>>),
}

impl Rig {
    fn with_deadline(deadline: Timestamp) -> Self {
        let driver = Driver {
            machine: Toy { told: Vec::new(), deadline },
            performer: Hands::default(),
            clock: Clock::of_runtime(0),
            deadline: || Told::Deadline,
        };
        Self { driver, commands: mpsc::channel(16), heard: mpsc::channel(1024) }
    }

    async fn run(&mut self) -> Option<&'static str> {
        let (_says, mut disk) = mpsc::unbounded_channel();
        let inputs = Inputs { commands: &mut self.commands.1, heard: &mut self.heard.1, disk: &mut disk };
        self.driver.run(Effects::default(), inputs).await
    }

    fn hear(&self, number: u32) {
        self.heard.0.try_send(Heard::new(Told::Word(number))).unwrap();
    }

    fn told(&self) -> &[Told] {
        &self.driver.machine.told
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_comes_by_itself() {
    let mut rig = Rig::with_deadline(Timestamp::from_millis(1500));
    assert!(tokio::time::timeout(Duration::from_millis(3600), rig.run()).await.is_err());
    assert_eq!(rig.told(), [Told::Deadline, Told::Deadline, Told::Deadline]);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_words_does_not_hold_up_a_deadline() {
    let mut rig = Rig::with_deadline(Timestamp::ZERO);
    for number in 0..1000 {
        rig.hear(number);
    }
    assert!(tokio::time::timeout(Duration::from_millis(1), rig.run()).await.is_err());
    let place = rig.told().iter().position(|told| *told == Told::Deadline).unwrap();
    assert!(place <= 64, "after {place} words");
    assert_eq!(rig.told().len(), 1001);
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_read_before_a_deadline_that_is_due() {
    let mut rig = Rig::with_deadline(Timestamp::ZERO);
    rig.hear(1);
    rig.hear(2);
    assert!(tokio::time::timeout(Duration::from_millis(1), rig.run()).await.is_err());
    assert_eq!(rig.told(), [Told::Word(1), Told::Word(2), Told::Deadline]);
}

#[tokio::test(start_paused = true)]
async fn commands_come_before_words() {
    let mut rig = Rig::with_deadline(Timestamp::NEVER);
    rig.hear(1);
    for command in [1, 2] {
        rig.commands.0.try_send(Told::Command(command)).unwrap();
    }
    assert!(tokio::time::timeout(Duration::from_millis(1), rig.run()).await.is_err());
    assert_eq!(rig.told(), [Told::Command(1), Told::Command(2), Told::Word(1)]);
    assert_eq!(rig.driver.performer.flushed, 2, "once at the beginning, once for the round");
}

#[tokio::test(start_paused = true)]
async fn a_life_that_ended_is_told_nothing_more() {
    let mut rig = Rig::with_deadline(Timestamp::NEVER);
    for command in [0, 2] {
        rig.commands.0.try_send(Told::Command(command)).unwrap();
    }
    assert_eq!(rig.run().await, Some("ended"));
    assert_eq!(rig.told(), [Told::Command(0)]);
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_nobody_holds_stops() {
    let mut rig = Rig::with_deadline(Timestamp::NEVER);
    rig.commands.0 = mpsc::channel(1).0;
    assert_eq!(rig.run().await, None);
}
