//! Behaviour change by value: the actor is an enum of its states, and a turn may replace it.

use std::time::Duration;

use borough::prelude::*;

enum Signal {
    Change,
    Colour(Reply<&'static str>),
}

/// Each state is a value with just the data it needs.
enum TrafficLight {
    Red { cycles: u32 },
    Green { cycles: u32 },
    OutOfOrder,
}

impl TrafficLight {
    fn colour(&self) -> &'static str {
        match self {
            Self::Red { .. } => "red",
            Self::Green { .. } => "green",
            Self::OutOfOrder => "blinking",
        }
    }
}

impl Actor for TrafficLight {
    type Msg = Signal;

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.timers().fixed_delay("change", Duration::from_secs(60), || Signal::Change);
        Ok(())
    }

    async fn receive(&mut self, msg: Signal, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Signal::Change => {
                *self = match *self {
                    Self::Red { cycles } => Self::Green { cycles },
                    Self::Green { cycles: 2 } | Self::OutOfOrder => Self::OutOfOrder,
                    Self::Green { cycles } => Self::Red { cycles: cycles + 1 },
                }
            }
            Signal::Colour(reply) => reply.send(self.colour()),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    let system = System::new("crossing")?;
    let light = system.spawn(|| TrafficLight::Red { cycles: 0 });
    let mut shown = Vec::new();
    for _ in 0..8 {
        shown.push(light.ask(Signal::Colour).await?);
        light.tell(Signal::Change).await?;
    }
    println!("{}", shown.join(" "));
    system.shutdown().await;
    Ok(())
}
