//! One run: faults under the eyes of the rules, then healing, in time.

use super::moment::{MILLISECOND, Moment, Nanos};
use super::plan::{Mode, Plan};
use super::rare::Met;
use super::sharding::Situations;
use super::strike::Strike;
use super::trace::Lines;
use super::violation::Violation;
use super::world::World;

/// How often a healing cluster is asked whether it has settled.
const GLANCE: Nanos = 250 * MILLISECOND;

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The rule that was broken, if one was.
    pub violation: Option<Violation>,
    /// The hash over everything that happened.
    pub trace_hash: u64,
    /// How many inputs the machines handled.
    pub handled: u64,
    /// Whether faults that a cluster should outlive hit those towards whom its voters were just changing.
    pub turned_wild: bool,
    /// How long healing took; the whole bound, if it did not end.
    pub healed_after: Nanos,
    /// The rare situations that came up.
    pub met: Met,
    /// How many messages to entities were sent, handled, refused and lost.
    pub tally: [usize; 4],
    /// The situations of shards that came up.
    pub situations: Situations,
    /// The faults that struck, each at its moment and with the slots it struck.
    pub struck: Vec<Strike>,
}

/// Runs a plan. A machine that panics takes the caller with it: [`guarded`](super::guard::guarded) is for those who mind.
pub fn run(plan: &Plan, lines: Option<Lines>) -> Outcome {
    let mut world = World::new(plan, lines);
    let mut healed_after = plan.heal_wild;
    let violation = through(plan, &mut world, &mut healed_after).err();
    Outcome {
        violation,
        trace_hash: world.trace_hash(),
        handled: world.handled(),
        turned_wild: world.is_wild() && plan.mode != Mode::Wild,
        healed_after,
        met: world.met().clone(),
        tally: world.tally(),
        situations: world.situations(),
        struck: world.struck().to_vec(),
    }
}

fn through(plan: &Plan, world: &mut World, healed_after: &mut Nanos) -> Result<(), Violation> {
    let healing = Moment::START.after(plan.faulty);
    world.run(healing)?;
    world.heal();
    loop {
        world.run(world.now().after(GLANCE))?;
        world.goes_on()?;
        let Some((rule, missing)) = world.unfinished() else {
            *healed_after = world.now().since(healing);
            return world.close_books();
        };
        let bound = if world.is_wild() { plan.heal_wild } else { plan.heal };
        if world.now().since(world.undisturbed_since(healing)) >= bound {
            return Err(Violation::Liveness(rule, missing));
        }
    }
}
