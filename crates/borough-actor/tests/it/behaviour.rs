//! A14: an actor that is an enum of states and becomes another one by value.

use borough_actor::{Actor, ActorRef, Context, Fault, Reply, Supervision, System};

/// A traffic light. Each colour knows what only it needs to know.
#[derive(Debug)]
enum Light {
    /// Cars wait; how many.
    Red {
        waiting: u32,
    },
    Green,
    /// Cars that come now wait for the next green.
    Amber {
        waiting: u32,
    },
    /// Out of order after a fault.
    Blinking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Red,
    Green,
    Amber,
    Blinking,
}

enum Signal {
    /// A car comes; the answer says whether it may go on.
    Car(Reply<bool>),
    /// Time to change.
    Change,
    Colour(Reply<Colour>),
    /// How many wait.
    Waiting(Reply<u32>),
    ShortCircuit,
}

impl Light {
    fn colour(&self) -> Colour {
        match self {
            Self::Red { .. } => Colour::Red,
            Self::Green => Colour::Green,
            Self::Amber { .. } => Colour::Amber,
            Self::Blinking => Colour::Blinking,
        }
    }

    fn waiting(&self) -> u32 {
        match self {
            Self::Red { waiting } | Self::Amber { waiting } => *waiting,
            Self::Green | Self::Blinking => 0,
        }
    }

    /// Whether a car that comes now may go on.
    fn car(&mut self) -> bool {
        match self {
            Self::Red { waiting } | Self::Amber { waiting } => {
                *waiting += 1;
                false
            }
            Self::Green | Self::Blinking => true,
        }
    }

    fn next(&self) -> Self {
        match self {
            Self::Red { .. } => Self::Green,
            Self::Green => Self::Amber { waiting: 0 },
            Self::Amber { waiting } => Self::Red { waiting: *waiting },
            Self::Blinking => Self::Red { waiting: 0 },
        }
    }
}

impl Actor for Light {
    type Msg = Signal;

    async fn receive(&mut self, signal: Signal, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match signal {
            Signal::Car(reply) => reply.send(self.car()),
            Signal::Change => *self = self.next(),
            Signal::Colour(reply) => reply.send(self.colour()),
            Signal::Waiting(reply) => reply.send(self.waiting()),
            Signal::ShortCircuit => return Err(Fault::new("short circuit")),
        }
        Ok(())
    }

    async fn restarted(&mut self, _fault: &Fault, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        *self = Self::Blinking;
        Ok(())
    }
}

fn light(system: &System) -> ActorRef<Signal> {
    let at_once = Supervision::default().backoff(std::time::Duration::ZERO, std::time::Duration::ZERO);
    system.actor(|| Light::Red { waiting: 0 }).supervision(at_once).spawn().expect("it needs no name")
}

#[tokio::test]
async fn an_actor_becomes_another_state_by_value() {
    let system = System::new("test").unwrap();
    let light = light(&system);
    for colour in [Colour::Red, Colour::Green, Colour::Amber, Colour::Red] {
        assert_eq!(light.ask(Signal::Colour).await.unwrap(), colour);
        light.tell(Signal::Change).await.unwrap();
    }
}

#[tokio::test]
async fn the_same_message_is_answered_by_the_state_the_actor_is_in() {
    let system = System::new("test").unwrap();
    let light = light(&system);
    let mut went_on = Vec::new();
    for _ in 0..3 {
        went_on.push(light.ask(Signal::Car).await.unwrap());
        light.tell(Signal::Change).await.unwrap();
    }
    assert_eq!(went_on, [false, true, false]);
}

#[tokio::test]
async fn messages_sent_around_a_change_are_each_handled_by_the_state_of_their_turn() {
    let system = System::new("test").unwrap();
    let light = light(&system);
    let change_and_drive = async {
        light.tell(Signal::Change).await.unwrap();
        light.ask(Signal::Car).await
    };
    let (before, after) = tokio::join!(light.ask(Signal::Car), change_and_drive);
    assert_eq!((before.unwrap(), after.unwrap()), (false, true));
}

#[tokio::test]
async fn a_state_hands_what_it_knows_to_the_next() {
    let system = System::new("test").unwrap();
    let light = light(&system);
    light.tell(Signal::Change).await.unwrap();
    light.tell(Signal::Change).await.unwrap();
    for _ in 0..3 {
        assert!(!light.ask(Signal::Car).await.unwrap());
    }
    light.tell(Signal::Change).await.unwrap();
    assert_eq!(light.ask(Signal::Waiting).await.unwrap(), 3);
    light.tell(Signal::Change).await.unwrap();
    assert_eq!(light.ask(Signal::Waiting).await.unwrap(), 0);
}

#[tokio::test]
async fn a_restarted_actor_may_begin_in_another_state() {
    let system = System::new("test").unwrap();
    let light = light(&system);
    light.tell(Signal::ShortCircuit).await.unwrap();
    assert_eq!(light.ask(Signal::Colour).await.unwrap(), Colour::Blinking);
    assert!(light.ask(Signal::Car).await.unwrap());
    light.tell(Signal::Change).await.unwrap();
    assert_eq!(light.ask(Signal::Colour).await.unwrap(), Colour::Red);
}
