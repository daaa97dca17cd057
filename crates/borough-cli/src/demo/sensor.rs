//! The entity of the demo: a sensor of the city.

use borough::prelude::*;

/// The type's name in the cluster.
pub(super) const SENSORS: &str = "sensors";
/// How many shards it has.
pub(super) const SHARDS: u32 = 256;

/// What can be said to a sensor.
#[derive(Serialize, Deserialize)]
pub(super) enum Reading {
    /// A reading. They are numbered for each sensor, from 0.
    Taken { number: u64, celsius: f32 },
    /// What it remembers.
    Look(Reply<Memory>),
}

/// What a sensor remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The readings that it has, in this life.
    pub(super) readings: u64,
    /// The number that the next should have.
    pub(super) next: u64,
    /// Readings that did not come after the one before: twice, or in another order.
    pub(super) misplaced: u64,
    /// The last temperature.
    pub(super) celsius: f32,
}

/// A sensor. Its memory moves with it; a crash of its process ends it.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Sensor {
    memory: Memory,
}

impl Actor for Sensor {
    type Msg = Reading;

    async fn receive(&mut self, message: Reading, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match message {
            Reading::Taken { number, celsius } => {
                // One that begins anew after a crash cannot know where it was. Refused ones leave a gap.
                let is_after = self.memory.readings == 0 || number >= self.memory.next;
                self.memory.misplaced += u64::from(!is_after);
                self.memory.readings += 1;
                self.memory.next = number + 1;
                self.memory.celsius = celsius;
            }
            Reading::Look(reply) => reply.send(self.memory),
        }
        Ok(())
    }
}

/// What the sensor of that number is called.
pub(super) fn name(number: usize) -> String {
    format!("sensor-{number}")
}
