//! What becomes of a message: lost, late, twice. Messages overtake each other because their delays are drawn one by one.

use borough_protocol::random::Random;
use serde::{Deserialize, Serialize};

use super::cuts::{Cuts, SlotIndex};
use super::moment::Nanos;

/// How the network treats messages while nothing is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weather {
    /// The shortest delay.
    pub delay_min: Nanos,
    /// The longest delay of most messages.
    pub delay_max: Nanos,
    /// How many of a thousand messages take longer than that.
    pub late_per_mille: u64,
    /// The longest delay of those.
    pub late_max: Nanos,
    /// How many of a thousand are lost.
    pub loss_per_mille: u64,
    /// How many of a thousand arrive twice.
    pub twice_per_mille: u64,
}

/// What becomes of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It never arrives.
    Lost,
    /// It arrives after so long.
    Arrives(Nanos),
    /// It arrives after so long, and again after so long.
    ArrivesTwice(Nanos, Nanos),
}

/// The network between the slots.
#[derive(Debug)]
pub(crate) struct Network {
    /// The weather when there is no storm.
    fair: Weather,
    /// Storms that rage, oldest first, each under the name it will be ended by. The newest is in force.
    storms: Vec<(usize, Weather)>,
    /// What is cut.
    pub(crate) cuts: Cuts,
    random: Random,
}

impl Network {
    /// A network of so many slots.
    pub(crate) fn new(slots: usize, fair: Weather, random: Random) -> Self {
        Self { fair, storms: Vec::new(), cuts: Cuts::none(slots), random }
    }

    /// A storm begins.
    pub(crate) fn begin_storm(&mut self, name: usize, weather: Weather) {
        self.storms.push((name, weather));
    }

    /// That storm is over.
    pub(crate) fn end_storm(&mut self, name: usize) {
        self.storms.retain(|(other, _)| *other != name);
    }

    /// Whether no storm rages.
    pub(super) fn is_fair(&self) -> bool {
        self.storms.is_empty()
    }

    /// How late a message may be while no storm rages.
    pub(super) fn late_max(&self) -> Nanos {
        self.fair.late_max
    }

    /// No cuts, no storms, no losses; delays stay.
    pub(crate) fn heal(&mut self) {
        self.cuts.lift_all();
        self.storms.clear();
        self.fair = Weather { loss_per_mille: 0, late_per_mille: 0, ..self.fair };
    }

    /// Draws what becomes of a message sent now.
    pub(crate) fn fate(&mut self, from: SlotIndex, to: SlotIndex) -> Fate {
        if self.cuts.is_cut(from, to) {
            return Fate::Lost;
        }
        let weather = self.storms.last().map_or(self.fair, |(_, weather)| *weather);
        // One number decides which of the rare things happens to a message: most draw only once more, for their delay.
        let chance = self.random.below(1000);
        let lost = weather.loss_per_mille;
        let twice = lost + weather.twice_per_mille;
        let late = twice + weather.late_per_mille;
        let usual = (weather.delay_min, weather.delay_max);
        if chance < lost {
            Fate::Lost
        } else if chance < twice {
            Fate::ArrivesTwice(self.delay(usual), self.delay((weather.delay_min, weather.late_max)))
        } else if chance < late {
            Fate::Arrives(self.delay((weather.delay_max, weather.late_max)))
        } else {
            Fate::Arrives(self.delay(usual))
        }
    }

    fn delay(&mut self, (min, max): (Nanos, Nanos)) -> Nanos {
        self.random.between(min, max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAIR: Weather = Weather {
        delay_min: 1,
        delay_max: 10,
        late_per_mille: 100,
        late_max: 50,
        loss_per_mille: 200,
        twice_per_mille: 300,
    };

    fn network() -> Network {
        Network::new(2, FAIR, Random::seeded(5))
    }

    #[test]
    fn messages_are_lost_doubled_and_late_as_often_as_the_weather_says() {
        let mut network = network();
        let (mut lost, mut twice, mut late) = (0, 0, 0);
        for _ in 0..10_000 {
            match network.fate(0, 1) {
                Fate::Lost => lost += 1,
                Fate::ArrivesTwice(..) => twice += 1,
                Fate::Arrives(delay) if delay > 10 => late += 1,
                Fate::Arrives(delay) => assert!((1..=10).contains(&delay)),
            }
        }
        assert!((1800..2200).contains(&lost), "{lost}");
        assert!((2700..3300).contains(&twice), "{twice}");
        assert!((900..1100).contains(&late), "{late}");
    }

    #[test]
    fn nothing_passes_a_cut() {
        let mut network = network();
        network.cuts.cut(0, 1);
        assert!((0..100).all(|_| network.fate(0, 1) == Fate::Lost));
    }

    #[test]
    fn the_newest_storm_is_in_force_until_it_ends() {
        let mut network = network();
        let slow = Weather {
            delay_min: 700,
            delay_max: 700,
            loss_per_mille: 0,
            twice_per_mille: 0,
            late_per_mille: 0,
            ..FAIR
        };
        network.begin_storm(1, FAIR);
        network.begin_storm(2, slow);
        network.end_storm(1);
        assert!((0..100).all(|_| network.fate(0, 1) == Fate::Arrives(700)));
        network.end_storm(2);
        assert!((0..100).all(|_| network.fate(0, 1) != Fate::Arrives(700)));
    }

    #[test]
    fn a_healed_network_loses_nothing() {
        let mut network = network();
        network.cuts.cut(0, 1);
        network.heal();
        assert!((0..1000).all(|_| network.fate(0, 1) != Fate::Lost));
    }
}
